"""The ingress function on AWS's APIs: its ports, its composition root, and what it tells."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError
from moto import mock_aws

from surehand import ingress
from surehand.aws import clients
from surehand.aws.claims import S3Bodies
from surehand.aws.ingress import Ingress, SQSQueue, impatient
from surehand.aws.secrets import fetching
from surehand.errors import ConfigurationError
from surehand.webhooks.ports import Message, Stored
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.secrets import SecretCache, SecretVersion
from surehand.webhooks.sign import sign
from surehand.webhooks.source import Source, timeouts
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.unwrap import EnvelopeError

EVENTS = Path(__file__).resolve().parents[3] / "events" / "webhooks"
BODY = b'{"id":"evt_1","type":"invoice.paid"}'


@pytest.fixture
def aws() -> Iterator[None]:
    with mock_aws():
        yield


def client(name: str) -> Any:
    return clients.client(name, clients.QUEUES)


def stored(name: str, *texts: str) -> Any:
    """Store the versions of a secret, the oldest first, and return what fetches them."""
    secrets = client("secretsmanager")
    secrets.create_secret(Name=name, SecretString=texts[0])
    for text in texts[1:]:
        secrets.put_secret_value(SecretId=name, SecretString=text)
    return fetching(secrets)


@pytest.mark.usefixtures("aws")
def test_a_secret_has_its_current_version_and_the_one_before_it():
    assert stored("s", "first", "second", "third")("s") == [
        SecretVersion("AWSCURRENT", "third"),
        SecretVersion("AWSPREVIOUS", "second"),
    ]


@pytest.mark.usefixtures("aws")
def test_a_secret_without_a_previous_version_is_no_error():
    assert stored("s", "only")("s") == [SecretVersion("AWSCURRENT", "only")]


@pytest.mark.usefixtures("aws")
def test_a_rotation_is_noticed_although_powertools_has_a_cache_of_its_own():
    fetch = stored("s", "old")
    assert fetch("s")[0].text == "old"
    client("secretsmanager").put_secret_value(SecretId="s", SecretString="new")

    assert [version.text for version in fetch("s")] == ["new", "old"]


@pytest.mark.usefixtures("aws")
def test_a_secret_that_does_not_exist_raises():
    with pytest.raises(Exception, match="find"):
        stored("s", "only")("another")


@pytest.mark.usefixtures("aws")
def test_a_body_comes_back_as_it_was_stored_and_from_no_other_bucket():
    client("s3").create_bucket(Bucket="large-bodies", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    bodies = S3Bodies(client("s3"), "large-bodies")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    where = bodies.put("k", b"abc", content_type="text/plain", sha256=digest)

    assert bodies.fetch(where) == b"abc"
    with pytest.raises(EnvelopeError, match="another bucket"):
        bodies.fetch(Stored(bucket="elsewhere", key="k"))
    with pytest.raises(EnvelopeError, match="gone"):
        bodies.fetch(Stored(bucket="large-bodies", key="expired"))


class Flaky:
    """A queue's client that fails so often before it takes a message."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.calls = 0

    def send_message(self, **request: Any) -> None:
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectTimeoutError(endpoint_url="sqs")


@pytest.mark.parametrize(("failures", "calls"), [(0, 1), (1, 2)])
def test_one_lost_connection_to_sqs_is_repeated_within_the_deadline(failures: int, calls: int):
    flaky = Flaky(failures)
    SQSQueue(flaky, attempts=2).send(Message(queue="q", body="{}", attributes={}))
    assert flaky.calls == calls


def test_sqs_that_stays_away_is_told():
    with pytest.raises(ConnectTimeoutError):
        SQSQueue(Flaky(9), attempts=2).send(Message(queue="q", body="{}", attributes={}))


def test_both_attempts_to_reach_sqs_fit_into_half_of_the_shortest_deadline():
    sources = [Source(name=name, scheme=SCHEMES[name], secret="s") for name in ("stripe", "slack")]
    limits = timeouts(sources)
    config: Any = impatient(limits, attempts=1)  # botocore sets its options as attributes

    each = config.connect_timeout + config.read_timeout
    assert limits.attempts * each <= 3 / 2
    assert config.retries == {"total_max_attempts": 1, "mode": "standard"}


@pytest.fixture
def deployed(aws: None) -> Iterator[str]:
    """The environment of a deployed ingress with one source; gives the queue's URL."""
    client("secretsmanager").create_secret(Name="shop/dev/webhooks/stripe", SecretString="whsec_secret")
    url = client("sqs").create_queue(QueueName="shop-dev-stripe")["QueueUrl"]
    variables = {
        "SUREHAND_SERVICE": "shop",
        "SUREHAND_WEBHOOK_BODIES": "bodies",
        "SUREHAND_QUEUE_STRIPE": url,
        "SUREHAND_WEBHOOK_SOURCES": '[{"name":"stripe","secret":"shop/dev/webhooks/stripe","scheme":"stripe"}]',
    }
    with patch.dict(os.environ, variables):
        ingress.forget()
        yield url
    ingress.forget()


def event(name: str, body: bytes = BODY) -> dict[str, Any]:
    """Return a recorded event of this shape, with a body that is signed now."""
    recorded: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    signed = sign(
        SCHEMES["stripe"], HttpRequest(method="POST", body=body), "whsec_secret", now=datetime.now(UTC)
    ).headers["stripe-signature"]
    recorded["headers"] = {**recorded["headers"], "stripe-signature": signed}
    return {**recorded, "body": body.decode(), "isBase64Encoded": False}


def received(url: str) -> list[dict[str, Any]]:
    answer = client("sqs").receive_message(QueueUrl=url, MessageAttributeNames=["All"])
    return [json.loads(message["Body"]) for message in answer.get("Messages", [])]


def test_a_signed_event_is_in_the_queue_before_it_is_answered(deployed: str):
    assert ingress.handle(event("http-api-stripe"))["statusCode"] == 200
    (envelope,) = received(deployed)
    assert (envelope["idempotency_key"], envelope["body"]["data"]) == ("stripe#evt_1", BODY.decode())


def test_a_forged_event_is_answered_401_and_nothing_is_sent(deployed: str):
    forged = event("http-api-stripe") | {"body": '{"id":"evt_2"}'}
    assert ingress.handle(forged)["statusCode"] == 401
    assert received(deployed) == []


def test_a_missing_secret_is_our_failure_and_no_refusal(deployed: str):
    client("secretsmanager").delete_secret(SecretId="shop/dev/webhooks/stripe", ForceDeleteWithoutRecovery=True)
    assert ingress.handle(event("http-api-stripe"))["statusCode"] == 503


def test_a_queue_that_is_away_is_our_failure(deployed: str):
    client("sqs").delete_queue(QueueUrl=deployed)
    answer = ingress.handle(event("http-api-stripe"))
    assert (answer["statusCode"], "retry-after" in answer["headers"]) == (503, True)


@pytest.mark.parametrize("missing", ["SUREHAND_WEBHOOK_SOURCES", "SUREHAND_WEBHOOK_BODIES", "SUREHAND_QUEUE_STRIPE"])
def test_a_variable_that_is_missing_is_named(deployed: str, monkeypatch: pytest.MonkeyPatch, missing: str):
    monkeypatch.delenv(missing)
    with pytest.raises(ConfigurationError, match=missing):
        ingress.handle(event("http-api-stripe"))


def test_clients_and_secrets_are_kept_over_requests(deployed: str):
    ingress.handle(event("http-api-stripe"))
    client("secretsmanager").delete_secret(SecretId="shop/dev/webhooks/stripe", ForceDeleteWithoutRecovery=True)
    assert ingress.handle(event("http-api-stripe"))["statusCode"] == 200


NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def telling(request: HttpRequest, *, failing: Exception | None = None) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return the log line and the metrics of one request, and the whole of what was written."""

    class Away:
        def send_message(self, **_: Any) -> None:
            if failing is not None:
                raise failing

    stream = io.StringIO()
    cache = SecretCache(lambda _: [SecretVersion("AWSCURRENT", "whsec_secret")], lambda: NOW)
    made = Ingress(
        sources={"stripe": Source(name="stripe", scheme=SCHEMES["stripe"], secret="s", queue="q")},
        secrets=cache,
        store=S3Bodies(None, "b"),
        queue=SQSQueue(Away(), attempts=1),
        clock=lambda: NOW,
        service="shop",
        stage="dev",
        version="v1",
        stream=stream,
    )
    http = {"method": "POST", "path": "/hooks/stripe"}
    made.answer(
        {
            "version": "2.0",
            "rawPath": "/hooks/stripe",
            "rawQueryString": "token=hidden",
            "headers": dict(request.headers),
            "requestContext": {"http": http, "stage": "$default", "requestId": "r-1"},
            "body": request.body.decode(),
            "isBase64Encoded": False,
        }
    )
    line, metrics = (json.loads(text) for text in stream.getvalue().splitlines())
    return line, metrics, stream.getvalue()


def signed(age: timedelta = timedelta(0)) -> HttpRequest:
    return sign(SCHEMES["stripe"], HttpRequest(method="POST", body=BODY), "whsec_secret", now=NOW - age)


def test_what_was_stored_is_told_with_its_ids_and_how_long_it_took():
    line, metrics, _ = telling(signed())

    assert {
        "event": "webhook", "service": "shop", "source": "stripe", "outcome": "stored", "status": 200,
        "request_id": "r-1", "event_id": "evt_1", "event_type": "invoice.paid", "level": "INFO",
    }.items() <= line.items()  # fmt: skip
    assert metrics["source"] == "shop-dev-stripe"
    assert {"Received", "Accepted", "EnqueueLatency", "VerifyLatency", "PayloadBytes"} <= metrics.keys()
    named = {one["Name"]: one["Unit"] for one in metrics["_aws"]["CloudWatchMetrics"][0]["Metrics"]}
    assert named["Received"] == "Count"
    assert named["EnqueueLatency"] == "Seconds"
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["source"]]


def test_a_signature_that_does_not_match_counts_apart_from_one_that_is_stale():
    _, forged, _ = telling(signed().with_headers({"stripe-signature": f"t={int(NOW.timestamp())},v1={'0' * 64}"}))
    _, stale, _ = telling(signed(timedelta(hours=1)))

    assert (forged.get("Mismatched"), forged.get("Stale"), forged["Rejected"]) == (1, None, 1)
    assert (stale.get("Mismatched"), stale.get("Stale"), stale["Rejected"]) == (None, 1, 1)


def test_what_failed_of_ours_is_told_by_aws_s_code():
    denied = ClientError({"Error": {"Code": "AccessDenied", "Message": "on arn:…"}}, "SendMessage")
    line, metrics, _ = telling(signed(), failing=denied)

    assert (line["level"], line["reason"], line["error_code"]) == ("ERROR", "enqueue_failed", "AccessDenied")
    assert metrics["EnqueueFailed"] == 1


def test_neither_body_nor_signature_nor_secret_nor_query_is_in_what_is_told():
    request = signed()
    for text in (telling(request)[2], telling(request.with_headers({"stripe-signature": "t=1,v1=abc"}))[2]):
        assert "hidden" not in text
        assert "whsec" not in text
        assert request.headers["stripe-signature"][-20:] not in text
        assert "v1=" not in text
