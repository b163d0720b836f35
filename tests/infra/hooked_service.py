"""A service with webhooks of every kind: a row, a row that signs its address, tenants, a scheme with a verifier."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from surehand import Scheme, Service, queue, webhook
from surehand.webhooks.twilio import TwilioVerifier

#: One that another team keeps.
SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:own-a1b2c3"
OWN = Scheme(name="own", verifier=TwilioVerifier(), body_signed="partial", deadline=timedelta(seconds=20))


@webhook("stripe", scheme="stripe", retention=timedelta(days=10), give_up_after=timedelta(days=5))
def on_stripe(event: dict[str, Any]) -> None:
    """Take an event."""


@webhook("slack", scheme="slack")
def on_slack(event: dict[str, Any]) -> None:
    """Take an event of a sender that waits three seconds."""


@webhook("shops", scheme="github", secret="shops/{stage}/{tenant}", tenants=["acme", "bolt"])
def on_shop(event: dict[str, Any]) -> None:
    """Take an event of a shop that has a secret of its own."""


@webhook("own", scheme=OWN, url="https://hooks.{stage}.example.com/hooks/own", secret=SECRET)
def on_own(body: bytes) -> None:
    """Take a body."""


@queue("plain", key="id")
def plain(event: dict[str, Any]) -> None:
    """Take no webhook."""


HOOKED = Service("hooked", (on_stripe, on_slack, on_shop, on_own, plain))
