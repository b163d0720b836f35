"""What a user may set on a handler's function, and what is derived and therefore refused."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_lambda as lambda_

from surehand.errors import DeclarationError

#: Every variable of the run time's contract starts like this.
RESERVED_PREFIX = "SUREHAND_"

#: MB of ephemeral storage that a snapshot can have.
MOST_STORAGE = 512
#: Option of `FunctionOptions` → why it is not the user's to set.
DERIVED: Mapping[str, str] = {
    "architecture": "the bundle is built for arm64",
    "dead_letter_queue": "SQS moves dead letters from the handler's queue; a function must never send to a DLQ",
    "dead_letter_queue_enabled": "SQS moves dead letters from the handler's queue; a function must never send to a DLQ",
    "dead_letter_topic": "SQS moves dead letters from the handler's queue",
    "durable_config": "the ledger keeps the state between attempts",
    "events": "the handler's one event source is its queue; attach other sources to shop[handler].queue",
    "function_name": "it is {service}-{stage}-{handler}, the public contract of names",
    "log_format": "it is JSON, which the alarms' log rules read",
    "log_group": "it is made with retention, and the role may write to that group alone; see shop[handler].log_group",
    "log_removal_policy": "it follows protect",
    "log_retention": "it follows protect",
    "log_retention_retry_options": "there is no log retention function",
    "log_retention_role": "there is no log retention function",
    "logging_format": "it is JSON, which the alarms' log rules read",
    "max_event_age": "the function is invoked by its event source mapping, never asynchronously",
    "on_failure": "the function is invoked by its event source mapping, never asynchronously",
    "on_success": "the function is invoked by its event source mapping, never asynchronously",
    "retry_attempts": "attempts are declared: max_attempts of the handler",
    "role": "each function has a role of its own; add to it with grant_* on shop[handler].function",
    "timeout": "it is declared: timeout of the handler, from which the queue's visibility follows",
}


def accepted(handler: str, options: lambda_.FunctionOptions | None) -> dict[str, Any]:
    """Return the options that the user set, as keyword arguments of `Function`.

    Raises:
        DeclarationError: Something among them is derived; names it, says why and what to do instead.
    """
    if options is None:
        return {}
    names = [name for name in inspect.signature(lambda_.FunctionOptions.__init__).parameters if name != "self"]
    given = {name: value for name in names if (value := getattr(options, name, None)) is not None}
    for name, why in DERIVED.items():
        if name in given:
            raise DeclarationError(f"Handler '{handler}': FunctionOptions({name}=…) is derived: {why}.")
    check_environment(handler, given.get("environment") or {})
    if "snap_start" in given:
        _check_snapshot(handler, given)
    return given


def _check_snapshot(handler: str, given: Mapping[str, Any]) -> None:
    """Refuse what SnapStart does not go with.

    Source: https://docs.aws.amazon.com/lambda/latest/dg/snapstart.html#snapstart-runtimes
    """
    versions, storage = given.get("current_version_options"), given.get("ephemeral_storage_size")
    beside = {
        "filesystem": "filesystem" in given,
        "ephemeral_storage_size above 512 MB": storage is not None and storage.to_mebibytes() > MOST_STORAGE,
        "provisioned concurrency": versions is not None and versions.provisioned_concurrent_executions is not None,
    }
    for what, found in beside.items():
        if found:
            raise DeclarationError(f"Handler '{handler}': SnapStart does not go with {what}. Choose one of the two.")


def check_environment(handler: str, variables: Mapping[str, str]) -> None:
    """Refuse variables that belong to the run time's contract.

    Raises:
        DeclarationError: Names the first of them.
    """
    for name in sorted(variables):
        if name.startswith(RESERVED_PREFIX):
            raise DeclarationError(
                f"Handler '{handler}': the environment variable {name} is derived, as every {RESERVED_PREFIX}* is."
            )
