"""The declaration of a handler that a stranger's HTTP requests reach: verified, stored in its queue, then answered."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import Any, Literal, Never

from surehand.backoff import Backoff
from surehand.declare.handler import Handler
from surehand.declare.identity import Fields
from surehand.declare.options import OnUnknown, Options, check_name, refuse_unknown
from surehand.declare.payload import PayloadType
from surehand.declare.queue import Declare
from surehand.declare.receiving import SECRET, Receiving
from surehand.declare.several import several, texts
from surehand.declare.signature import payload_of
from surehand.errors import DeclarationError
from surehand.webhooks.request import LARGEST_BODY
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.source import State


def webhook(
    name: str,
    *,
    scheme: str | Scheme,
    secret: str | None = None,
    key: Fields | Callable[[Any], object] | None = None,
    tenant: Fields | None = None,
    url: str | None = None,
    tenants: Collection[str] | Literal["any"] | None = None,
    tenant_in: str = "",
    types: Collection[str] = (),
    drop_types: Collection[str] = (),
    state: State = "on",
    largest: int = LARGEST_BODY,
    timeout: timedelta = timedelta(seconds=30),
    max_attempts: int = 5,
    backoff: Backoff = Backoff(),
    give_up_after: timedelta = timedelta(days=3),
    on_unknown: OnUnknown = "retry",
    sends_to: Sequence[Handler[Any] | str] = (),
    batch_size: int = 10,
    batch_window: timedelta = timedelta(0),
    parallel: int = 1,
    max_concurrency: int = 10,
    retention: timedelta = timedelta(days=4),
    memory: int = 512,
    **misspelt: Never,
) -> Declare:
    """Declare a function as the handler of one sender's webhooks, which arrive at `/hooks/{name}`.

    It runs on events whose signature was verified and that are stored in its queue. The payload may also be `bytes`,
    for the body exactly as it was sent; a form is a JSON object of its fields.

    Args:
        name: Identity for ever, as for `queue`, and the path that the sender is given.
        scheme: How the sender signs: a row of the table in `docs/webhooks.md`, or a `Scheme` of your own.
        secret: Where the signing secret is stored in Secrets Manager; by default `{service}/{stage}/webhooks/{name}`.
            These placeholders are filled in, and `{tenant}` where each tenant has a secret of its own.
        key: What names one event, as for `queue`; by default the scheme's rule, which prefers a signed id.
        tenant: The attributes that name the customer, as for `queue`, where the path does not.
        url: The public URL of `/hooks/{name}`, for schemes that sign it; `{stage}` in it is filled in.
        tenants: The tenants that the path names, `/hooks/{name}/{tenant}`; "any" for any.
        tenant_in: Where tenants share a secret: the signed place that must agree with the path, `body:shop.id`.
        types: The event types that are stored, all if none is named; others are answered with success and dropped.
            Name them for senders like Shopify: the type stands in a header that nobody signs, so a captured request
            runs once for each type that somebody invents.
        drop_types: Event types that are answered with success and not stored.
        state: "paused" asks senders to come again, "drain" stores with a mark, "gone" asks them to unsubscribe.
        largest: Bytes of body that are taken, at most 4 MiB.
        timeout, max_attempts, backoff, give_up_after, on_unknown, sends_to, batch_size, batch_window, parallel,
            max_concurrency, retention, memory: As for `queue`.

    Raises:
        DeclarationError: At import, if any of this cannot work.
    """
    check_name(name, "Handler")
    refuse_unknown(name, misspelt, sorted([*(webhook.__kwdefaults__ or {}), "scheme"]), what="webhook()")
    if tenant is not None and tenants is not None:
        raise DeclarationError(
            f"Handler '{name}': tenants= says that the path names the tenant; drop tenant={tenant!r}."
        )
    if not 1 <= largest <= LARGEST_BODY:
        raise DeclarationError(f"Handler '{name}': largest={largest!r}, but it must be from 1 to {LARGEST_BODY} bytes.")
    of = f"Handler '{name}'"
    receiving = Receiving(
        scheme=_row(name, scheme),
        secret=SECRET if secret is None else secret,
        url=url,
        tenants=tenants if tenants is None or tenants == "any" else frozenset(texts(tenants, "tenants", of=of)),
        tenant_in=tenant_in,
        types=frozenset(texts(types, "types", of=of)),
        drop_types=frozenset(texts(drop_types, "drop_types", of=of)),
        state=state,
        largest=largest,
    )
    receiving.source(name, service="service", stage="stage")  # whatever they are called, a contradiction shows here
    options = Options(
        key=key,
        tenant=tenant,
        webhook=receiving,
        timeout=timeout,
        max_attempts=max_attempts,
        backoff=backoff,
        give_up_after=give_up_after,
        on_unknown=on_unknown,
        sends_to=several(sends_to, "sends_to", of=of),
        batch_size=batch_size,
        batch_window=batch_window,
        parallel=parallel,
        max_concurrency=max_concurrency,
        retention=retention,
        memory=memory,
    )

    def declare(function: Callable[..., object], /) -> Handler[Any]:
        annotation, _ = payload_of(function, of=name)
        return Handler(function, name, "webhook", options, payload=RawBody() if annotation is bytes else None)

    return declare


class RawBody(PayloadType[bytes]):
    """The payload type of a handler that takes the body exactly as it was sent."""

    def __init__(self) -> None:
        self.annotation = bytes
        self.members = (bytes,)
        self.unsettled = []

    def validate(self, body: str | bytes) -> bytes:
        """Return the body. See `PayloadType.validate`."""
        return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body

    def dump(self, payload: Any) -> bytes:
        """Return the payload, which is its own serialisation. See `PayloadType.dump`."""
        return bytes(payload)

    def send(self, payload: Any) -> tuple[bytes, bytes]:
        """Return the payload, and the payload. See `PayloadType.send`."""
        body = self.dump(payload)
        return body, body

    def declared(self, payload: bytes) -> str:
        """Return the body's digest: all of it is declared. See `PayloadType.declared`."""
        return hashlib.sha256(payload).hexdigest()

    def given(self, payload: bytes) -> str:
        """Return the body's digest: all of it is set. See `PayloadType.given`."""
        return self.declared(payload)


def _row(name: str, scheme: str | Scheme) -> Scheme:
    if isinstance(scheme, Scheme):
        return scheme
    from surehand.webhooks.table import SCHEMES  # 26 rows, which a handler with a scheme of its own need not build

    if scheme not in SCHEMES:
        near = difflib.get_close_matches(str(scheme), SCHEMES, n=1)
        hint = f"Did you mean '{near[0]}'?" if near else f"The table has {', '.join(sorted(SCHEMES))}."
        raise DeclarationError(
            f"Handler '{name}': scheme={scheme!r} is no row of the table. {hint} For any other sender give a Scheme(…)."
        )
    return SCHEMES[scheme]
