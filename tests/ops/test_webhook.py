"""`surehand webhook`: what it signs is accepted, and what is refused it explains without showing the secret."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from surehand import Service, webhook
from surehand.webhooks.keys import read_key
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.sign import sign
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.verify import verify
from tests.ops.conftest import Surehand

SECRET = "whsec_of_this_test"
BODY = b'{"id":"evt_1","type":"invoice.paid"}'


@webhook("billing", scheme="stripe")
def take(event: dict[str, Any]) -> None:
    """Take an event."""


@webhook("shops", scheme="square", url="https://hooks.example.com/hooks/shops", secret="{tenant}", tenants=["acme"])
def take_shop(event: dict[str, Any]) -> None:
    """Take an event of a shop."""


DOORS = Service("doors", (take, take_shop))


@pytest.fixture
def doors(project: Path) -> Path:
    """A project with webhooks; a file with a body, and one with the secret."""
    (project / "pyproject.toml").write_text('[tool.surehand]\nservice = "tests.ops.test_webhook:DOORS"\n')
    (project / "body.json").write_bytes(BODY)
    (project / "secret").write_text(SECRET + "\n")
    return project


def words(command: str) -> tuple[str, dict[str, str], str]:
    """Return address, headers and body file of a curl command."""
    parts = shlex.split(command)
    headers = dict(parts[at + 1].split(": ", 1) for at, word in enumerate(parts) if word == "--header")
    return parts[3], headers, parts[parts.index("--data-binary") + 1]


def raw(request: HttpRequest) -> bytes:
    """Return a request as the text that a proxy would have captured."""
    lines = [f"{request.method} {request.path} HTTP/1.1", *(f"{k}: {v}" for k, v in request.headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + request.body


def signed(*, age: timedelta = timedelta(0), secret: str = SECRET, body: bytes = BODY) -> HttpRequest:
    plain = HttpRequest(method="POST", path="/hooks/billing", body=body)
    return sign(SCHEMES["stripe"], plain, secret, now=datetime.now(UTC) - age)


def accepted(surehand: Surehand, doors: Path, headers: dict[str, str]) -> bool:
    """Tell whether the body with these headers is accepted, by the engine itself and by `check`."""
    request = HttpRequest(method="POST", path="/hooks/billing", headers=headers, body=BODY)
    verify(SCHEMES["stripe"], request, [read_key(SECRET, "utf8")], now=datetime.now(UTC), url=None)
    (doors / "request").write_bytes(raw(request))
    return surehand("webhook", "check", "billing", "--request", "request", "--secret-from", "secret").status == 0


def test_what_sign_prints_is_a_command_that_the_ingress_accepts(surehand: Surehand, doors: Path) -> None:
    said = surehand(
        "webhook", "sign", "billing", "--body", "body.json", "--secret-from", "secret", "--url", "http://127.0.0.1:1/x"
    )

    address, headers, data = words(said.out)
    assert (said.status, address, data) == (0, "http://127.0.0.1:1/x", "@body.json")
    assert accepted(surehand, doors, headers)


def test_the_secret_is_the_one_that_the_ingress_reads_unless_a_file_is_named(surehand: Surehand, doors: Path) -> None:
    import boto3

    with mock_aws():
        boto3.client("secretsmanager").create_secret(Name="doors/test/webhooks/billing", SecretString=SECRET)
        said = surehand("webhook", "sign", "billing", "--body", "body.json", "--url", "http://a", "--json")

    assert accepted(surehand, doors, said.lines[0]["headers"])


def test_a_secret_that_is_not_there_is_one_line(surehand: Surehand, doors: Path) -> None:
    with mock_aws():
        said = surehand("webhook", "sign", "billing", "--body", "body.json", "--url", "http://a")

    assert said.status == 1
    assert "ResourceNotFoundException" in said.err
    assert "Traceback" not in said.err


def test_a_tenant_has_its_own_path_secret_and_signed_address(surehand: Surehand, doors: Path) -> None:
    said = surehand("webhook", "sign", "shops", "--body", "body.json", "--tenant", "acme", "--secret-from", "secret")

    assert words(said.out)[0] == "https://hooks.example.com/hooks/shops/acme"


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("billing", ("--url", "notaurl"), "--url 'notaurl': write http://"),
        ("billing", ("--url", "ftp://a/hooks/billing"), "write http://"),
        ("billing", ("--url", "http://a", "--tenant", "acme"), "webhook 'billing': its path names no tenant"),
        (
            "shops",
            ("--url", "http://a/hooks/shops", "--tenant", "a/../b"),
            "webhook 'shops': its path names one of acme",
        ),
        ("shops", ("--url", "http://a/hooks/shops"), "say which with --tenant"),
    ],
)
def test_an_address_or_a_tenant_that_no_request_can_have_is_refused(
    source: str, options: tuple[str, ...], said: str, surehand: Surehand, doors: Path
) -> None:
    done = surehand("webhook", "sign", source, "--body", "body.json", "--secret-from", "secret", *options)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_a_tenant_stands_in_the_address_that_is_given(surehand: Surehand, doors: Path) -> None:
    command = ("webhook", "sign", "shops", "--body", "body.json", "--secret-from", "secret", "--tenant", "acme")
    for address in ("http://a/hooks/shops", "http://a/hooks/shops/acme"):
        assert words(surehand(*command, "--url", address).out)[0] == "http://a/hooks/shops/acme"


def test_without_an_address_it_asks_for_one(surehand: Surehand, doors: Path) -> None:
    said = surehand("webhook", "sign", "billing", "--body", "body.json", "--secret-from", "secret")
    assert (said.status, "--url" in said.err) == (2, True)


def test_an_unknown_source_is_answered_with_the_known_ones(surehand: Surehand, doors: Path) -> None:
    said = surehand("webhook", "sign", "biling", "--body", "body.json", "--secret-from", "secret")
    assert (said.status, "billing, shops" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (signed(secret="another"), "bad_signature"),
        (signed(age=timedelta(minutes=6)), "stale"),
        (HttpRequest(method="POST", path="/hooks/billing", body=BODY), "missing_signature"),
        (HttpRequest(method="POST", path="/hooks/other", body=BODY), "unknown_source"),
    ],
    ids=["another key", "too old", "unsigned", "another path"],
)
def test_check_says_why_a_request_is_refused_and_shows_no_secret(
    surehand: Surehand, doors: Path, request_: HttpRequest, reason: str
) -> None:
    (doors / "request").write_bytes(raw(request_))

    said = surehand("webhook", "check", "billing", "--request", "request", "--secret-from", "secret", "--json")

    assert (said.status, said.lines[0]["reason"]) == (1, reason)
    assert SECRET not in said.out + said.err


def test_check_says_what_would_have_helped(surehand: Surehand, doors: Path) -> None:
    request = signed()
    (doors / "request").write_bytes(raw(request) + b"\n")

    said = surehand("webhook", "check", "billing", "--request", "request", "--secret-from", "secret")

    assert said.status == 1
    assert "refused: bad_signature" in said.out
    assert "line end" in said.out or "newline" in said.out


def test_check_reads_a_lambda_event_and_takes_its_own_time(surehand: Surehand, doors: Path) -> None:
    at = datetime.now(UTC) - timedelta(days=3)
    request = signed(age=timedelta(days=3))
    event = {
        "version": "2.0",
        "rawPath": "/hooks/billing",
        "rawQueryString": "",
        "headers": dict(request.headers),
        "requestContext": {
            "http": {"method": "POST"},
            "stage": "$default",
            "requestId": "r",
            "timeEpoch": int(at.timestamp() * 1000),
        },
        "body": BODY.decode(),
        "isBase64Encoded": False,
    }
    (doors / "event.json").write_text(json.dumps(event))

    said = surehand("webhook", "check", "billing", "--request", "event.json", "--secret-from", "secret")

    assert said.status == 0, said.out
    assert "idempotency key: billing#evt_1" in said.out


@pytest.mark.parametrize("text", ["", "hello", "{", '{"a": 1}'])
def test_a_file_that_holds_no_request_is_one_line(surehand: Surehand, doors: Path, text: str) -> None:
    (doors / "request").write_text(text)
    said = surehand("webhook", "check", "billing", "--request", "request", "--secret-from", "secret")
    assert (said.status, "Traceback" in said.err) == (2, False)
