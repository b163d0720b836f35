"""The webhooks' part of the inventory: the ingress function, its routes, its secrets and the bucket of large bodies."""

from __future__ import annotations

from typing import Any

from surehand import Service
from surehand.declare import derived, physical_name, queue_name, queue_variable
from surehand.declare.ingress import (
    INGRESS,
    INGRESS_HANDLER,
    INGRESS_MEMORY,
    bodies_kept,
    ingress_timeout,
    paths,
    secrets,
    sources_of,
)
from surehand.declare.verifiers import places_of
from surehand.webhooks.config import dump_sources
from surehand_cli.inventory.permissions import ingress_statements
from surehand_cli.inventory.terms import function, queue_url


def webhooks(service: Service, stage: str) -> dict[str, Any] | None:
    """Return what a service's webhooks need beside their handlers, or None if it has none.

    Raises:
        DeclarationError: A scheme's verifier cannot be found by the ingress.
    """
    handlers = [handler for handler in service.handlers if handler.options.webhook is not None]
    if not handlers:
        return None
    sources = sources_of(handlers, service=service.name, stage=stage)
    environment = {
        derived.SERVICE: service.name,
        derived.STAGE: stage,
        derived.VERSION: "{version}",
        derived.SOURCES: dump_sources(sources, verifiers=places_of(handlers)),
        **{queue_variable(one.name): queue_url(queue_name(service.name, stage, one)) for one in handlers},
        derived.BODIES: "{bodies}",
    }
    return {
        "function": function(
            physical_name(service.name, stage, INGRESS),
            INGRESS_HANDLER,
            timeout=ingress_timeout(sources),
            memory=INGRESS_MEMORY,
            environment=environment,
        ),
        "routes": [f"ANY {path}" for path in paths(sources)],
        "secrets": secrets(sources),
        "bodies": {"expiration_days": bodies_kept(service.handlers).days},
        "policy": [statement.to_json() for statement in ingress_statements(service, stage, sources)],
    }
