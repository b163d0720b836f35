"""One way to sign a webhook, as one declarative row.

A house scheme is one value:

    Scheme(
        name="acme", signature="header:x-acme-sig", prefix="sha256=",
        timestamp="header:x-acme-time", signed="{timestamp}.{body}",
        id="body:id", type="body:type",
    )
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from surehand.webhooks.keys import KeyFormat
from surehand.webhooks.place import alternatives
from surehand.webhooks.scheme_rules import check
from surehand.webhooks.template import URLS, names_in
from surehand.webhooks.verifier import Verifier

Algorithm = Literal["hmac-sha1", "hmac-sha256", "hmac-sha512", "ed25519", "ecdsa-p256", "token"]
Encoding = Literal["hex", "base64"]
Unit = Literal["s", "ms", "iso"]
Signs = Literal["full", "partial", "none"]
HandshakeName = Literal["slack", "discord", "zoom", "meta", "dropbox", "okta", "graph", "cloudevents", "x-twitter"]
Places = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sender is told after its event is stored."""

    status: int = 200
    body: str = ""
    content_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """How one sender signs, what it expects, and where its events say who they are.

    Places are written as in `place.py`; of several, the first that is present counts.

    Verification
        *signature*: where signatures stand. More than one is a candidate each (Box has two headers).
        *signed*: the template of what is signed. *algorithm*, *encoding*, *prefix* of the signature.
        *separator*: what is between the items of the header; *label*: the name of an item that is a signature;
        *pair*: what is between an item's name and its value. Without a label the whole item is a signature.
        *key_format*: what the stored secret means. *timestamp*, *unit*: when it was signed.
        *tolerance*: how old it may be, to the exact moment; None for no limit. Ahead of the clock the same, at most
        ten minutes. Without a timestamp there is no tolerance, and only deduplication stops a replay.
        *body_signed*: `full` if no byte of the body can change unnoticed, `partial`, or `none`.
        *verifier*: takes the place of all of these.
    Identity
        *id*, *type*, *occurred_at*: where they stand. *id_signed*: whether the signature covers the id.
        *unsigned_id*: what an id is worth that is not signed. `guard` (default): the key is a digest of type and body,
        so that a captured request with a new id, or without one, is still the same operation. `trust`: the key is the
        id. *guard_type*: whether the type is part of that digest, for senders whose equal bodies of two types are two
        events; where it stands in a header, whoever replays a request can then run it once for each type.
        *without_id*: the key if there is no id. `digest` of the body (default), or `delivery`: each request is its own
        operation, for senders whose bodies legitimately repeat.
        *attempt*: a header that counts the sender's retries. *headers*: those that are handed to the handler.
    Answers
        *success*: the answer when the event is stored. *handshakes*: those answered without the worker.
        *methods*, *content_types* (empty: any), *head* (whether HEAD is answered 200).
        *deadline*: when the sender gives up waiting. *retry_status*, *retry_after*: the answer to our own failure.
        *retry_window*: how long the sender goes on trying; None if it never does or is not known.
    *source*: where the facts of the row come from, with their grade.

    Raises:
        DeclarationError: The row contradicts itself. The text names the scheme and the field.
    """

    name: str
    signature: Places = ()
    signed: str = "{body}"
    algorithm: Algorithm = "hmac-sha256"
    encoding: Encoding = "hex"
    prefix: str = ""
    separator: str = ""
    label: str = ""
    pair: str = "="
    key_format: KeyFormat = "utf8"
    timestamp: Places = ()
    unit: Unit = "s"
    tolerance: timedelta | None = timedelta(minutes=5)
    body_signed: Signs = "full"
    verifier: Verifier | None = None

    id: Places = ()
    id_signed: bool = True
    unsigned_id: Literal["guard", "trust"] = "guard"
    guard_type: bool = True
    without_id: Literal["digest", "delivery"] = "digest"
    type: Places = ()
    occurred_at: Places = ()
    attempt: str = ""
    headers: tuple[str, ...] = ()

    success: Answer = Answer()
    handshakes: tuple[HandshakeName, ...] = ()
    methods: tuple[str, ...] = ("POST",)
    content_types: tuple[str, ...] = ()
    head: bool = False
    deadline: timedelta = timedelta(seconds=5)
    retry_status: int = 503
    retry_after: timedelta = timedelta(seconds=30)
    retry_window: timedelta | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if not self.timestamp:
            object.__setattr__(self, "tolerance", None)
        check(self)

    @property
    def needs_url(self) -> bool:
        """Whether the public URL is part of what is signed, so that a source must configure it."""
        if self.verifier is not None:
            return self.verifier.needs_url
        return bool(URLS & names_in(self.signed))

    @property
    def guards(self) -> bool:
        """Whether the key is a digest in place of the id, because nobody signs the id."""
        signed = self.id_signed and self.body_signed != "none"
        return bool(self.id) and not signed and self.unsigned_id == "guard"

    @property
    def type_signed(self) -> bool:
        """Whether the type stands in what is signed, so that nobody but the sender can choose it."""
        places = [place for places in alternatives(self.type) for place in places]
        return self.body_signed != "none" and all(place.kind in ("body", "form") for place in places)

    @property
    def needs_crypto(self) -> bool:
        """Whether verifying needs the extra `surehand[crypto]`."""
        return self.verifier is None and self.algorithm in ("ed25519", "ecdsa-p256")
