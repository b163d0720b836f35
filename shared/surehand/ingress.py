"""The ingress function's composition root: environment and real clock enter here, as for handlers in `entrypoint`.

One function for all webhook sources. It imports no handler, no payload type and no pydantic, and builds its clients
during Lambda's init, because what it starts with is paid within a sender's deadline. Lambda's `Handler` setting is
`surehand.ingress.handle`.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from surehand import variables
from surehand.errors import ConfigurationError

if TYPE_CHECKING:
    from surehand.aws.ingress import Ingress

#: What was built for this execution environment, by the variables that it was built from.
_BUILT: dict[tuple[str, ...], Ingress] = {}


def handle(event: Any, context: object = None) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer one request of an HTTP API, a function URL or a REST API.

    Returns:
        Status, headers and body as Lambda takes them. Nothing is 2xx before SQS has the event.

    Raises:
        ConfigurationError: A `SUREHAND_*` variable is missing or cannot be read.
    """
    return _ingress().answer(event)


def forget() -> None:
    """Forget clients and cached secrets, so that the next request builds new ones. For tests and after a restore."""
    _BUILT.clear()


def _ingress() -> Ingress:
    read = sorted(name for name in os.environ if name.startswith(("SUREHAND_", "AWS_ENDPOINT", "AWS_REGION")))
    key = tuple(f"{name}={os.environ[name]}" for name in read)
    if key not in _BUILT:
        _BUILT[key] = _build()
    return _BUILT[key]


def _build() -> Ingress:
    from surehand.aws import clients
    from surehand.aws.claims import S3Bodies
    from surehand.aws.ingress import Ingress, SQSQueue, impatient
    from surehand.aws.secrets import fetching
    from surehand.webhooks.config import load_sources
    from surehand.webhooks.secrets import SecretCache
    from surehand.webhooks.source import timeouts

    sources = load_sources(_required(variables.SOURCES), lambda name: _required(variables.queue_variable(name)))
    limits = timeouts(sources.values())
    patient = impatient(limits, attempts=limits.attempts)
    return Ingress(
        sources=sources,
        secrets=SecretCache(fetching(clients.client("secretsmanager", patient)), _now),
        # Most bodies fit into a message, and S3's client takes as long to build as all the rest.
        store=S3Bodies(clients.Later(lambda: clients.client("s3", patient)), _required(variables.BODIES)),
        queue=SQSQueue(clients.client("sqs", impatient(limits, attempts=1)), attempts=limits.attempts),
        clock=_now,
        service=os.environ.get(variables.SERVICE, variables.UNNAMED_SERVICE),
        stage=os.environ.get(variables.STAGE, variables.UNNAMED_STAGE),
        version=os.environ.get(variables.VERSION) or os.environ.get("AWS_LAMBDA_FUNCTION_VERSION") or "local",
    )


def _required(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise ConfigurationError(f"{variable} is not set. The construct sets it on the deployed ingress.")
    return value


def _now() -> datetime:
    return datetime.now(UTC)


def _renew() -> None:
    forget()
    _ingress()


def _initialise() -> None:
    from surehand.aws.snapshots import after_restore

    _ingress()
    after_restore(_renew, environment=os.environ)


if os.environ.get("AWS_LAMBDA_FUNCTION_NAME") and os.environ.get(variables.SOURCES):
    _initialise()
