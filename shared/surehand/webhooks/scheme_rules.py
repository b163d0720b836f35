"""What a scheme cannot be: the rules that are checked when it is constructed, each naming its field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from surehand.errors import DeclarationError
from surehand.webhooks.keys import PUBLIC_FORMATS
from surehand.webhooks.place import Place, alternatives
from surehand.webhooks.template import names_in

if TYPE_CHECKING:
    from surehand.webhooks.scheme import Scheme

#: Never handed on: what proves who the sender is, and what belongs to a browser.
NEVER_HANDED_ON = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"})
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_HEADER = re.compile(r"[a-z0-9-]+")
_FORMATS = {"ed25519": ("whpk", "ed25519-hex"), "ecdsa-p256": ("spki",)}


def check(scheme: Scheme) -> None:
    """Raise DeclarationError for a scheme that contradicts itself."""
    problem = next(_problems(scheme), None)
    if problem is not None:
        raise DeclarationError(f"scheme '{scheme.name}': {problem}")


def _problems(scheme: Scheme) -> Iterator[str]:
    if not _NAME.fullmatch(scheme.name):
        yield "name: 1 to 64 characters of a-z, 0-9 and '-', beginning with a letter or digit"
    for option in ("headers", "handshakes", "methods", "content_types"):
        if isinstance(given := getattr(scheme, option), str):
            yield f"{option}: {given!r} is one text, but it takes several: write {option}=({given!r},)"
            return
    for texts in (scheme.id, scheme.type, scheme.occurred_at, scheme.attempt):
        alternatives(texts)
    if any(len(places) > 1 for places in (*alternatives(scheme.signature), *alternatives(scheme.timestamp))):
        yield "signature, timestamp: one place each, not a composite"
    yield from _answers(scheme)
    if scheme.verifier is None:
        yield from _signatures(scheme)
        yield from _timestamps(scheme)
        yield from _ids(scheme)


def _signatures(scheme: Scheme) -> Iterator[str]:
    places = [place for places in alternatives(scheme.signature) for place in places]
    if not places:
        yield "signature: name the place where the signature stands, such as 'header:x-acme-sig'"
    if any(place.kind == "label" for place in places):
        yield "signature: an item of the signature header is named by label=, not by a place"
    if scheme.algorithm != "token" and any(place.kind != "header" for place in places):
        yield "signature: only a header; a signature that stands elsewhere needs a verifier"
    if scheme.label and not scheme.separator:
        yield "label: needs the separator between the header's items"
    if scheme.label and not scheme.pair:
        yield "pair: a label needs what stands between it and its value"
    if scheme.algorithm != "token" and not scheme.signed:
        yield "signed: nothing is signed"
    yield from _keys(scheme)
    if scheme.algorithm == "token":
        if scheme.body_signed != "none":
            yield "body_signed: a static token signs nothing, so it is 'none'"
    elif scheme.body_signed == "full" and "body" not in names_in(scheme.signed):
        yield "body_signed: 'full', but signed= has no {body}"
    elif scheme.body_signed == "none" and "body" in names_in(scheme.signed):
        yield "body_signed: 'none', but signed= has a {body}"


def _keys(scheme: Scheme) -> Iterator[str]:
    if scheme.algorithm in _FORMATS:
        if scheme.key_format not in _FORMATS[scheme.algorithm]:
            yield f"key_format: {scheme.algorithm} takes {' or '.join(_FORMATS[scheme.algorithm])}"
    elif scheme.key_format in PUBLIC_FORMATS:
        yield f"key_format: '{scheme.key_format}' is a public key, which {scheme.algorithm} cannot use"


def _timestamps(scheme: Scheme) -> Iterator[str]:
    if "timestamp" in names_in(scheme.signed) and not scheme.timestamp:
        yield "timestamp: signed= has a {timestamp}; name the place where it stands"
    for place in (place for places in alternatives(scheme.timestamp) for place in places):
        if place.kind == "body":
            if scheme.body_signed != "full":
                yield "timestamp: stands in a body that is not signed in full"
        elif place.kind not in ("header", "label"):
            yield "timestamp: only a header, a label or a field of the body"
        elif "timestamp" not in names_in(scheme.signed):
            yield "timestamp: it is not in signed=, so anybody could set it anew"
        if place.kind == "label" and not scheme.label:
            yield "timestamp: a label place needs label= and separator="
    if scheme.tolerance is not None and scheme.tolerance <= timedelta(0):
        yield "tolerance: a positive length, or None"


def _ids(scheme: Scheme) -> Iterator[str]:
    names = names_in(scheme.signed) if scheme.algorithm != "token" else frozenset()
    if "id" in names and not scheme.id:
        yield "id: signed= has an {id}; name the place where it stands"
    if not scheme.id or not scheme.id_signed:
        return
    for place in (place for places in alternatives(scheme.id) for place in places):
        if not _is_signed(place, names, scheme):
            yield f"id_signed: {place} is not covered by the signature; say id_signed=False"


def _is_signed(place: Place, names: frozenset[str], scheme: Scheme) -> bool:
    if place.kind == "header":
        return "id" in names or f"header:{place.path}" in names
    if place.kind == "query":
        return bool(names & {"url", "hubspot_url"})
    return scheme.body_signed != "none"


def _answers(scheme: Scheme) -> Iterator[str]:
    if not 200 <= scheme.success.status <= 299:
        yield "success: a stored event is answered with a status from 200 to 299"
    if scheme.retry_status not in range(500, 600) and scheme.retry_status != 429:
        yield "retry_status: our own failure is answered with 429 or 5xx, so that the sender tries again"
    if scheme.deadline <= timedelta(0) or scheme.retry_after < timedelta(0):
        yield "deadline, retry_after: positive lengths"
    if not scheme.methods or any(method not in ("POST", "PUT", "PATCH", "GET") for method in scheme.methods):
        yield "methods: at least one of POST, PUT, PATCH and GET"
    if scheme.attempt and not scheme.attempt.startswith("header:"):
        yield "attempt: only a header"
    for name in scheme.headers:
        if not _HEADER.fullmatch(name) or name in NEVER_HANDED_ON or f"header:{name}" in _flat(scheme.signature):
            yield f"headers: '{name}' cannot be handed on: lower case, and neither a credential nor the signature"


def _flat(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else texts
