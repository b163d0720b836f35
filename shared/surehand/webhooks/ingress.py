"""One request through the ingress, in the order that keeps it safe: route, method, size, unsigned handshake, secrets,
signature and freshness, signed handshake, identity, envelope, queue, answer.

Nothing is answered 2xx before SQS has it; nothing is deduplicated here (the worker does, behind its ledger); a hostile
request is never a 5xx, and a failure of our own never a 4xx.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from surehand.webhooks.outcome import Failure, Kind, Outcome
from surehand.webhooks.ports import Ports
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.response import HttpResponse, come_again
from surehand.webhooks.source import Source, route
from surehand.webhooks.visit import OwnFailure, Visit, allowed_methods


def answer_event(
    event: Any, sources: Mapping[str, Source], ports: Ports, *, now: datetime
) -> tuple[HttpResponse, Outcome]:
    """Answer a Lambda event of an HTTP API, a function URL or a REST API. Raises nothing."""
    try:
        request = HttpRequest.from_event(event)
    except Rejected as rejected:
        return _refuse(rejected, Outcome(kind=Kind.REJECTED, status=rejected.status), None)
    return answer(request, sources, ports, now=now)


def answer(
    request: HttpRequest, sources: Mapping[str, Source], ports: Ports, *, now: datetime
) -> tuple[HttpResponse, Outcome]:
    """Answer one request, and tell what became of it. *now* is an aware datetime. Raises nothing."""
    seen = Outcome(kind=Kind.FAILED, status=503, request_id=request.request_id, size=len(request.body))
    try:
        source, tenant = route(request.path, sources)
    except Rejected as rejected:
        return _refuse(rejected, seen, None)
    visit = Visit(request, source, tenant, ports, now, replace(seen, source=source.name, tenant=tenant))
    try:
        response = visit.run()
    except Rejected as rejected:
        return _refuse(rejected, visit.outcome, source)
    except OwnFailure as failed:
        cause = failed.__cause__
        return _fail(failed.failure, cause if isinstance(cause, Exception) else failed, visit.outcome, source)
    except Exception as error:  # noqa: BLE001 - whatever of ours failed, the sender must come again
        return _fail(Failure.UNEXPECTED, error, visit.outcome, source)
    return response, replace(visit.outcome, status=response.status)


def _refuse(rejected: Rejected, seen: Outcome, source: Source | None) -> tuple[HttpResponse, Outcome]:
    headers = {}
    if rejected.reason is Reason.WRONG_METHOD and source is not None:
        headers["allow"] = ", ".join(sorted(allowed_methods(source)))
    outcome = replace(seen, kind=Kind.REJECTED, status=rejected.status, reason=rejected.reason, detail=rejected.detail)
    return HttpResponse(rejected.status, "", MappingProxyType(headers)), outcome


def _fail(failure: Failure, error: Exception, seen: Outcome, source: Source) -> tuple[HttpResponse, Outcome]:
    scheme = source.scheme
    outcome = replace(seen, kind=Kind.FAILED, status=scheme.retry_status, failure=failure, error=error)
    return come_again(scheme.retry_status, scheme.retry_after), outcome
