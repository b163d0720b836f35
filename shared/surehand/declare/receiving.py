"""What a webhook handler says of its sender, as data: the ingress's source is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from surehand.webhooks.identity import identify
from surehand.webhooks.place import Reading
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.source import PREFIX, Source, State

#: Where a sender's secret is stored, unless the declaration says otherwise.
SECRET = "{service}/{stage}/webhooks/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiving:
    """One sender. See `webhook` for what the fields mean; *secret* and *url* still hold their placeholders."""

    scheme: Scheme
    secret: str
    url: str | None
    tenants: frozenset[str] | Literal["any"] | None
    tenant_in: str
    types: frozenset[str]
    drop_types: frozenset[str]
    state: State
    largest: int

    def source(self, name: str, *, service: str, stage: str) -> Source:
        """Return the source called *name* of one deployment.

        Raises:
            DeclarationError: It contradicts itself or its scheme, or the scheme needs `surehand[crypto]`.
        """

        def filled(text: str) -> str:
            named = text.replace("{service}", service).replace("{stage}", stage)
            return named.replace("{name}", name)

        return Source(
            name=name,
            scheme=self.scheme,
            secret=filled(self.secret),
            url=None if self.url is None else filled(self.url),
            tenants=self.tenants,
            tenant_in=self.tenant_in,
            types=self.types,
            drop_types=self.drop_types,
            state=self.state,
            largest=self.largest,
        )

    def key_of(self, name: str, body: str | bytes) -> str:
        """Return the key that the scheme's rule gives to a body which came without its request.

        An id that stands in a header is missing then, so the key is the digest of the body.
        """
        return identify(self.scheme, Reading(request_of(name, body)), source=name).key


def request_of(name: str, body: str | bytes) -> HttpRequest:
    """Return the plainest request that could have brought *body* to the source called *name*."""
    raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    return HttpRequest(method="POST", path=PREFIX + name, headers={"content-type": "application/json"}, body=raw)
