"""Every row of the table of statuses, through the function's own entry, in each shape of event."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from moto import mock_aws

from surehand import ingress
from surehand.aws import clients
from surehand.webhooks.config import dump_sources
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.sign import sign
from surehand.webhooks.source import Source
from surehand.webhooks.table import SCHEMES

SECRET = "a-literal-secret"
BODY = b'{"id":"evt_1","type":"invoice.paid","text":"\xc3\xa9"}'


def one(name: str, scheme: str, **more: Any) -> Source:
    return Source(name=name, scheme=SCHEMES[scheme], secret="kept", **more)


SOURCES = [
    one("stripe", "stripe", drop_types=frozenset({"ping"}), largest=100_000),
    one("shops", "github", tenants="any", tenant_in="body:shop"),
    one("meta", "meta"),
    one("graph", "graph"),
    Source(name="events", scheme=replace(SCHEMES["stripe"], content_types=("application/json",)), secret="kept"),
    one("gone", "stripe", state="gone"),
    one("paused", "stripe", state="paused"),
    one("drained", "stripe", state="drain"),
    Source(name="nothing", scheme=SCHEMES["stripe"], secret="missing"),
]
QUEUELESS = one("queueless", "stripe")


@pytest.fixture(scope="module")
def deployed() -> Iterator[None]:
    """An ingress with a source for every case, on moto; one has no secret and one no queue."""
    with mock_aws():
        sqs = clients.client("sqs", clients.QUEUES)
        stored = json.dumps({"current": SECRET, "verify_token": "our-token"})
        clients.client("secretsmanager", clients.QUEUES).create_secret(Name="kept", SecretString=stored)
        url = sqs.create_queue(QueueName="all")["QueueUrl"]
        queues = {f"SUREHAND_QUEUE_{source.name.upper()}": url for source in SOURCES}
        variables = {
            "SUREHAND_WEBHOOK_SOURCES": dump_sources([*SOURCES, QUEUELESS]),
            "SUREHAND_WEBHOOK_BODIES": "no-such-bucket",
            "SUREHAND_QUEUE_QUEUELESS": url + "-deleted",
        }
        with patch.dict(os.environ, queues | variables):
            ingress.forget()
            yield
        ingress.forget()


def http_api(request: HttpRequest, *, encoded: bool) -> dict[str, Any]:
    http = {"method": request.method, "path": request.path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"}
    context = {"http": http, "stage": "$default", "requestId": "r-1", "routeKey": "$default"}
    return {
        "version": "2.0",
        "rawPath": request.path,
        "rawQueryString": request.raw_query,
        "headers": dict(request.headers),
        "requestContext": context,
        **_body(request, encoded),
    }


def rest_api(request: HttpRequest, *, encoded: bool) -> dict[str, Any]:
    pairs = [pair.split("=", 1) for pair in request.raw_query.split("&") if pair]
    return {
        "resource": "/hooks/{proxy+}",
        "httpMethod": request.method,
        "path": request.path,
        # REST APIs keep the sender's spelling of names.
        "headers": {name.title(): value for name, value in request.headers.items()},
        "multiValueHeaders": {name.title(): [value] for name, value in request.headers.items()},
        "queryStringParameters": dict(pairs) or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in pairs} or None,
        "requestContext": {"stage": "prod", "requestId": "r-1", "httpMethod": request.method},
        **_body(request, encoded),
    }


def _body(request: HttpRequest, encoded: bool) -> dict[str, Any]:
    if encoded:
        return {"body": base64.b64encode(request.body).decode(), "isBase64Encoded": True}
    return {"body": request.body.decode() or None, "isBase64Encoded": False}


Shape = Callable[[HttpRequest], dict[str, Any]]
SHAPES: dict[str, Shape] = {
    "HTTP API or function URL": lambda request: http_api(request, encoded=False),
    "HTTP API, base64": lambda request: http_api(request, encoded=True),
    "REST API": lambda request: rest_api(request, encoded=False),
    "REST API, base64": lambda request: rest_api(request, encoded=True),
}


def signed(source: str, scheme: str = "stripe", *, path: str = "", body: bytes = BODY, **more: Any) -> HttpRequest:
    plain = HttpRequest(method="POST", path=f"/hooks/{source}{path}", body=body)
    plain = plain.with_headers({"content-type": "application/json"})
    now = datetime.now(UTC) - more.pop("age", timedelta(0))
    return sign(SCHEMES[scheme], plain, more.pop("secret", SECRET), now=now, **more)


def handshake(token: str) -> HttpRequest:
    query = f"hub.mode=subscribe&hub.verify_token={token}&hub.challenge=1158201444"
    return HttpRequest(method="GET", path="/hooks/meta", raw_query=query)


ROWS: dict[str, tuple[Callable[[], HttpRequest], int]] = {
    "stored": (lambda: signed("stripe"), 200),
    "stored, with the scheme's own answer": (
        lambda: signed("graph", "graph", body=b'{"value":[{"id":"1","clientState":"%s"}]}' % SECRET.encode()),
        202,
    ),
    "dropped by type": (lambda: signed("stripe", body=b'{"id":"evt_2","type":"ping"}'), 200),
    "handshake": (lambda: handshake("our-token"), 200),
    "drained": (lambda: signed("drained"), 200),
    "bad signature": (lambda: signed("stripe", secret="another"), 401),
    "missing signature": (lambda: HttpRequest(method="POST", path="/hooks/stripe", body=BODY), 401),
    "malformed signature": (lambda: signed("stripe").with_headers({"stripe-signature": "t=now,v1=x"}), 401),
    "stale": (lambda: signed("stripe", age=timedelta(minutes=6)), 401),
    "from the future": (lambda: signed("stripe", age=timedelta(minutes=-6)), 401),
    "another tenant": (lambda: signed("shops", "github", path="/acme", body=b'{"shop":"bolt"}'), 401),
    "wrong verify token": (lambda: handshake("guessed"), 403),
    "unknown source": (lambda: signed("nobody"), 404),
    "a tenant where there is none": (lambda: signed("stripe", path="/acme"), 404),
    "wrong method": (lambda: HttpRequest(method="PUT", path="/hooks/stripe", body=BODY), 405),
    "gone": (lambda: signed("gone"), 410),
    "too large": (lambda: signed("stripe", body=b'"%s"' % (b"x" * 100_000)), 413),
    "wrong content type": (
        lambda: signed("events").with_headers({"content-type": "text/plain"}),
        415,
    ),
    "no secret": (lambda: signed("nothing"), 503),
    "no queue": (lambda: signed("queueless"), 503),
    "no bucket": (lambda: signed("shops", "github", path="/a", body=_large()), 503),
    "paused": (lambda: signed("paused"), 503),
}


def _large() -> bytes:
    return json.dumps({"shop": "a", "noise": os.urandom(300_000).hex()}).encode()


@pytest.mark.usefixtures("deployed")
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize(("made", "status"), ROWS.values(), ids=list(ROWS))
def test_each_outcome_has_its_status(made: Callable[[], HttpRequest], status: int, shape: Shape) -> None:
    answer = ingress.handle(shape(made()))

    assert answer["statusCode"] == status
    assert ("retry-after" in answer["headers"]) is (status == 503)
    assert ("allow" in answer["headers"]) is (status == 405)
    if status >= 400:
        assert answer["body"] == ""


@pytest.mark.usefixtures("deployed")
@pytest.mark.parametrize("shape", ["HTTP API or function URL", "REST API"])
def test_base64_that_is_none_is_malformed(shape: str) -> None:
    event = SHAPES[shape](signed("stripe")) | {"isBase64Encoded": True, "body": "no base64!"}
    assert ingress.handle(event)["statusCode"] == 400


@pytest.mark.usefixtures("deployed")
@pytest.mark.parametrize("event", [None, [], "text", {}, {"version": "2.0"}, {"requestContext": {}}, {"Records": []}])
def test_what_is_no_request_is_never_a_5xx(event: object) -> None:
    assert ingress.handle(event)["statusCode"] == 400
