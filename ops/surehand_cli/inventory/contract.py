"""The inventory as data: a stable contract, from which Terraform, SAM or Serverless can wire the run time.

Every name, number and permission follows from the declarations. `{region}` and `{account}` stand for what only a
deployment knows. A test holds this against the template that the CDK constructs make, in both directions. Within one
`contract` version fields are added and never change their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from surehand import Handler, Service
from surehand.declare import (
    ATTENTION_INDEX,
    ATTENTION_KEYS,
    CONTRACT,
    DEAD_LETTER_RETENTION,
    TABLE_KEYS,
    TICK_BODY,
    TTL_ATTRIBUTE,
    dead_letter_queue_name,
    derived,
    lambda_handler,
    ledger_retention,
    max_receive_count,
    metrics_of,
    physical_name,
    queue_name,
    queue_variable,
    table_name,
    target_names,
    visibility_timeout,
)
from surehand.declare.limits import LEASE_MARGIN, TICK_RETRIES
from surehand.declare.sweeping import EVERY, MEMORY, POSITION, TIMEOUT, Task, function_name
from surehand.variables import NAMESPACE
from surehand_cli.inventory.permissions import Statement, bodies_of, handler_statements, sweep_statements
from surehand_cli.inventory.terms import function, queue_url, seconds
from surehand_cli.inventory.webhooks import webhooks


def inventory(service: Service, stage: str) -> dict[str, Any]:
    """Return the inventory of one stage of a service, which depends on the declarations alone.

    `live`, and `ticks` of each schedule, are for `surehand_cli.inventory.live`.

    Raises:
        DeclarationError: A name is longer than AWS allows.
    """
    return {
        "contract": CONTRACT,
        "service": service.name,
        "stage": stage,
        "ledger": _ledger(service, stage),
        "handlers": [_handler(service, stage, handler) for handler in service.handlers],
        "schedule_group": derived.schedule_group_name(service.name, stage) if _timed(service) else None,
        "tick_dead_letters": derived.tick_dead_letter_queue_name(service.name, stage) if _timed(service) else None,
        "webhooks": webhooks(service, stage),
        "sweep": _sweep(service, stage),
        "live": None,
    }


def _ledger(service: Service, stage: str) -> dict[str, Any]:
    partition, sort = TABLE_KEYS
    handler, since = ATTENTION_KEYS
    return {
        "table": table_name(service.name, stage),
        "keys": {partition: "S", sort: "S"},
        "billing": "PAY_PER_REQUEST",
        "ttl_attribute": TTL_ATTRIBUTE,
        "index": {"name": ATTENTION_INDEX, "keys": {handler: "S", since: "N"}, "projection": "ALL"},
        "retention_seconds": seconds(ledger_retention(service.handlers)),
    }


def _handler(service: Service, stage: str, handler: Handler[Any]) -> dict[str, Any]:
    options = handler.options
    return {
        "name": handler.name,
        "trigger": _trigger(service, stage, handler),
        "delivery": _delivery(handler),
        "coordination": _coordination(handler),
        "identity": {
            "key": _fields(options.key) if options.key is not None else "the scheme's rule",
            "tenant": _fields(options.tenant),
            "group": _fields(options.group),
        },
        "effects": {
            "idempotency_key": "job.key(effect): stable over attempts, redrives and releases",
            "on_unknown": options.on_unknown if isinstance(options.on_unknown, str) else "asks the provider",
            "sends_to": list(target_names(handler)),
        },
        "function": function(
            physical_name(service.name, stage, handler.name),
            lambda_handler(handler),
            timeout=options.timeout,
            memory=options.memory,
            environment=_environment(service, stage, handler),
        ),
        "queue": {
            "name": queue_name(service.name, stage, handler),
            "fifo": options.fifo,
            "visibility_timeout_seconds": seconds(visibility_timeout(handler)),
            "retention_seconds": seconds(options.retention),
            "max_receive_count": max_receive_count(handler),
        },
        "dead_letters": {
            "name": dead_letter_queue_name(service.name, stage, handler),
            "retention_seconds": seconds(DEAD_LETTER_RETENTION),
            "redrive_permission": "byQueue",
        },
        "mapping": {
            "batch_size": options.batch_size,
            "batch_window_seconds": seconds(options.batch_window),
            "max_concurrency": options.max_concurrency,
            "function_response_types": ["ReportBatchItemFailures"],
            "metrics": ["EventCount"],
        },
        "metrics": {
            "namespace": NAMESPACE,
            "dimensions": {"handler": metrics_of(service.name, stage, handler.name)},
        },
        "policy": [statement.to_json() for statement in handler_statements(service, stage, handler)],
    }


def _trigger(service: Service, stage: str, handler: Handler[Any]) -> dict[str, Any]:
    options = handler.options
    if options.timing is not None:
        timing = options.timing
        return {
            "kind": "schedule",
            "expression": timing.when.expression,
            "timezone": timing.when.timezone,
            "flexible_seconds": seconds(timing.flexible),
            "overlap": timing.overlap,
            "catch_up_seconds": seconds(timing.catch_up),
            "input": TICK_BODY,
            "retries": TICK_RETRIES,
            "longest_delivery_seconds": seconds(timing.longest_delivery),
            "ticks": None,
        }
    if options.webhook is not None:
        source = options.webhook.source(handler.name, service=service.name, stage=stage)
        return {
            "kind": "webhook",
            "path": f"/hooks/{handler.name}",
            "scheme": source.scheme.name,
            "secret": source.secret,
            "state": source.state,
        }
    return {"kind": "queue", "envelope": options.envelope}


def _delivery(handler: Handler[Any]) -> dict[str, Any]:
    options = handler.options
    return {
        "model": "at least once, with the same key",
        "order": "within a group of a tenant" if options.fifo else "none",
        "max_attempts": options.max_attempts,
        "give_up_after_seconds": seconds(options.give_up_after),
        "backoff": {
            "first_seconds": options.backoff.first.total_seconds(),
            "cap_seconds": options.backoff.cap.total_seconds(),
            "jitter": "full",
        },
    }


def _coordination(handler: Handler[Any]) -> dict[str, Any]:
    return {
        "model": "one lease per operation, fenced",
        "lease": f"the invocation's deadline + {seconds(LEASE_MARGIN)} s",
        "lease_seconds_at_most": seconds(handler.options.timeout + LEASE_MARGIN),
        "parallel_in_one_invocation": handler.options.parallel,
    }


def _environment(service: Service, stage: str, handler: Handler[Any]) -> dict[str, str]:
    """`SUREHAND_VERSION` is what a deployment calls itself; it may be left out."""
    reached = dict.fromkeys((handler.name, *target_names(handler)))
    found = {
        derived.SERVICE: service.name,
        derived.STAGE: stage,
        derived.HANDLER: handler.name,
        derived.TABLE: table_name(service.name, stage),
        derived.LEDGER_RETENTION: str(seconds(ledger_retention(service.handlers))),
        derived.VERSION: "{version}",
        **{queue_variable(name): queue_url(queue_name(service.name, stage, service[name])) for name in reached},
    }
    return {**found, derived.BODIES: "{bodies}"} if bodies_of(handler) else found


def _sweep(service: Service, stage: str) -> dict[str, Any]:
    name = function_name(service.name, stage)
    environment = {
        derived.SERVICE: service.name,
        derived.STAGE: stage,
        derived.TABLE: table_name(service.name, stage),
        derived.VERSION: "{version}",
    }
    return {
        "function": function(
            name, "surehand.entrypoint.sweep", timeout=TIMEOUT, memory=MEMORY, environment=environment
        ),
        "schedule": {"expression": f"rate({EVERY // timedelta(minutes=1)} minutes)", "retries": 0},
        "input": Task.of(service.handlers).dump(),
        "policy": [statement.to_json() for statement in sweep_statements(service, stage, POSITION)],
    }


def _timed(service: Service) -> bool:
    return any(handler.options.timing is not None for handler in service.handlers)


def _fields(fields: object) -> str | list[str] | None:
    if fields is None or isinstance(fields, str):
        return fields
    return "a function of the payload" if callable(fields) else [str(name) for name in fields]  # type: ignore[attr-defined]


Inventory = Mapping[str, Any]
__all__ = ["Inventory", "Statement", "inventory"]
