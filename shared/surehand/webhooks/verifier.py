"""What a verification gives, and the protocol for a sender that no row of the table can describe.

Two verifiers stand in this package: `twilio.py` (a signature over the URL and the decoded form) and `adyen.py` (one
signature in each item of the body). Write a third for SNS, PayPal or your own bank and give it to
`Scheme(verifier=…)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from surehand.webhooks.keys import Key
from surehand.webhooks.request import HttpRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A request that is what its scheme says.

    *key_index* counts from 0 in the order of the keys given; *key_id* is that key's label and fingerprint.
    *signed_at* is the signed timestamp, None if the scheme has none. *event_id* is the signed id, if the signature
    itself covers one that is no part of the body.
    """

    key_index: int
    key_id: str
    signed_at: datetime | None = None
    event_id: str | None = None


class Verifier(Protocol):
    """Anything that can tell whether a request is genuine."""

    #: Whether the public URL of the source must be configured.
    needs_url: bool

    def verify(self, request: HttpRequest, keys: Sequence[Key], *, now: datetime, url: str | None) -> Verified:
        """Verify one request against all keys. *url* is the source's public URL without a query string.

        Raises:
            Rejected: And nothing else, whatever the request contains.
        """
        ...


@runtime_checkable
class Signer(Protocol):
    """A verifier that can also sign, for local use and tests."""

    def sign(self, request: HttpRequest, key: Key, *, url: str | None) -> HttpRequest:
        """Return the request as its sender would have signed it."""
        ...


def public_url(url: str, request: HttpRequest) -> str:
    """Return the URL that the sender called: the configured one, and the query string if one was sent.

    Never rebuilt from `Host` or `X-Forwarded-*`: the client chooses those.
    """
    return f"{url}?{request.raw_query}" if request.raw_query else url
