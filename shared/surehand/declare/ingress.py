"""The one ingress function of a service's webhooks: what follows from the declarations for it.

Public to infra and the command line; the function itself needs none of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from surehand.declare import derived_names
from surehand.declare.derived import ledger_retention
from surehand.declare.handler import Handler
from surehand.webhooks.source import PREFIX, Source

#: The ingress's place in every name, as if it were a handler; `Service` keeps it free.
INGRESS = derived_names.INGRESS
#: Lambda's `Handler` setting of the ingress.
INGRESS_HANDLER = "surehand.ingress.handle"
#: MB. Much below it a cold start outlasts the shortest of the senders' deadlines.
INGRESS_MEMORY = 1_024
#: An HTTP API waits no longer than 30 s for an integration.
#: Source: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
_LONGEST = timedelta(seconds=29)
#: Stored bodies outlive the ledger's memory of their events by this, and so every message that points at them.
_SLACK = timedelta(days=5)


def sources_of(handlers: Iterable[Handler[Any]], *, service: str, stage: str) -> list[Source]:
    """Return the source of each handler that is a webhook, as it is called in one deployment."""
    return [
        receiving.source(handler.name, service=service, stage=stage)
        for handler in handlers
        if (receiving := handler.options.webhook) is not None
    ]


def ingress_timeout(sources: Sequence[Source]) -> timedelta:
    """Return the ingress's timeout: an answer after the shortest deadline is for nobody."""
    shortest = min(source.scheme.deadline for source in sources)
    return min(_LONGEST, timedelta(seconds=math.ceil(shortest.total_seconds()) + 1))


def bodies_kept(handlers: Sequence[Handler[Any]]) -> timedelta:
    """Return how long a stored body is kept, in whole days."""
    return timedelta(days=ledger_retention(handlers).days) + _SLACK


def paths(sources: Sequence[Source]) -> list[str]:
    """Return the path of each source, with the tenant's part where there are tenants."""
    return [PREFIX + source.name + ("" if source.tenants is None else "/{tenant}") for source in sources]


def secrets(sources: Iterable[Source]) -> list[str]:
    """Return the names, or ARNs, of the sources' secrets, one for each tenant that has its own."""
    return sorted(
        {
            source.secret_of(tenant)
            for source in sources
            for tenant in (source.tenants if isinstance(source.tenants, frozenset) else {None})
        }
    )
