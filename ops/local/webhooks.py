"""Webhooks of a local run: what Stripe and Slack send, and what somebody else sends in their names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from surehand_cli.local.deployed import Deployed
from surehand_cli.local.samples import Fate, Sample
from surehand_cli.local.webhook_requests import WebhookRequest, store_secret

BODIES = Path(__file__).resolve().parents[2] / "events" / "webhooks" / "bodies"
#: Made up, and as good as real ones on this machine.
SECRETS = {"stripe": "whsec_local_run_of_the_shop", "slack": "slack-local-run-of-the-shop"}
CHALLENGE = b'{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}'


def secrets(deployed: Deployed) -> None:
    """Store what the senders sign with."""
    for handler, secret in SECRETS.items():
        store_secret(deployed, handler, secret)


def requests() -> Iterator[Sample]:
    """Events and a handshake, a replay, a forged request and one that was recorded ten minutes ago."""
    paid = _request("stripe", (BODIES / "stripe-invoice-paid.json").read_bytes())
    title = "webhook: Stripe, invoice paid"
    yield _sample(title, paid, Fate.SUCCEEDED, 200, attempts=1)
    yield _sample("webhook: the same, replayed", paid, Fate.ALREADY_APPLIED, 200, after=title)
    yield _sample("webhook: the same, forged", _request("stripe", paid.body, forged=True), Fate.REFUSED, 401)
    stale = _request("stripe", paid.body, age=timedelta(minutes=10))
    yield _sample("webhook: the same, ten minutes old", stale, Fate.REFUSED, 401)
    handshake = _request("slack", CHALLENGE, door=True)
    yield _sample("webhook: Slack, its challenge", handshake, Fate.ANSWERED, 200)
    mention = _request("slack", (BODIES / "slack-app-mention.json").read_bytes())
    yield _sample("webhook: Slack, the app is mentioned", mention, Fate.SUCCEEDED, 200, attempts=1)


def by_hand(deployed: Deployed) -> str:
    """Return a command that signs an event and posts it to the deployed API."""
    access = "AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=eu-west-1"
    body = (BODIES / "stripe-invoice-paid.json").relative_to(BODIES.parents[2])
    place = f"--stage local --endpoint-url {deployed.endpoint} --url '{deployed.webhook(deployed.service['stripe'])}'"
    return f"{access} .venv/bin/surehand webhook sign stripe --body {body} {place} | sh -s"


def _request(
    handler: str, body: bytes, *, age: timedelta = timedelta(0), forged: bool = False, door: bool = False
) -> WebhookRequest:
    return WebhookRequest(handler=handler, body=body, secret=SECRETS[handler], age=age, forged=forged, door=door)


def _sample(title: str, request: WebhookRequest, fate: Fate, status: int, **expected: Any) -> Sample:
    return Sample(title=title, handler=request.handler, send=request, fate=fate, status=status, **expected)
