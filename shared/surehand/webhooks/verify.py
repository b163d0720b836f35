"""Whether a request is genuine. Standard library only; raw bytes; constant time; the clock is an argument.

    verified = verify(SCHEMES["stripe"], request, keys, now=now)

Nothing is decoded or parsed before it is verified, except what names the signature itself.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from surehand.errors import DeclarationError
from surehand.webhooks.clock import check_fresh, read_time
from surehand.webhooks.keys import Key
from surehand.webhooks.place import Reading, alternatives
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.signed import Parts, chunks
from surehand.webhooks.verifier import Verified

_DIGESTS = {"hmac-sha1": "sha1", "hmac-sha256": "sha256", "hmac-sha512": "sha512"}

#: Signatures looked at in one request; a header of AWS's 10 KB holds more than any sender needs.
MOST_SIGNATURES = 32


def verify(
    scheme: Scheme, request: HttpRequest, keys: Sequence[Key], *, now: datetime, url: str | None = None
) -> Verified:
    """Verify a request against all keys at once.

    *now* is an aware datetime; *url* the source's public URL without a query string.

    Raises:
        Rejected: The request is not genuine, or not fresh. Nothing else leaves, whatever the request contains.
        DeclarationError: The scheme signs the URL and none is given.
    """
    if scheme.needs_url and url is None:
        raise DeclarationError(f"scheme '{scheme.name}' signs the public URL: give the source its url=")
    if scheme.verifier is not None:
        return scheme.verifier.verify(request, keys, now=now, url=url)
    if scheme.algorithm == "token":
        return _token(scheme, Reading(request), keys)
    header = read_signature(scheme, request)
    reading = Reading(request, header.labels)
    parts = _parts(scheme, reading, url)
    content = chunks(scheme.signed, parts)
    key_index = _matching(scheme, keys, header.signatures, content)
    signed_at = _signed_at(scheme, reading, parts.timestamp)
    if signed_at is not None:
        check_fresh(signed_at, now=now, tolerance=scheme.tolerance)
    return Verified(
        key_index=key_index,
        key_id=keys[key_index].id,
        signed_at=signed_at,
        event_id=parts.id or None,
    )


@dataclass(frozen=True, slots=True)
class SignatureHeader:
    """What the signature header says: the decoded signatures, and the other items by their name (the first of each)."""

    signatures: tuple[bytes, ...]
    labels: dict[str, str]


def read_signature(scheme: Scheme, request: HttpRequest) -> SignatureHeader:
    """Read a scheme's signature headers.

    Raises:
        Rejected: `missing_signature` if there is none, `malformed_signature` if none can be decoded.
    """
    names = [place.path for places in alternatives(scheme.signature) for place in places]
    values = [request.headers[name] for name in names if name in request.headers]
    if not values:
        raise Rejected(Reason.MISSING_SIGNATURE, f"no header {' or '.join(names)}")
    labels: dict[str, str] = {}
    texts: list[str] = []
    for item in (item for value in values for item in _items(scheme, value)):
        if not scheme.label:
            texts.append(item)
            continue
        name, pair, value = item.partition(scheme.pair)
        if pair and name == scheme.label:
            texts.append(value)
        elif pair:
            labels.setdefault(name, value)
    signatures = tuple(filter(None, (_decode(scheme, text) for text in texts[:MOST_SIGNATURES])))
    if not signatures:
        raise Rejected(Reason.MALFORMED_SIGNATURE, f"no signature can be read in {' or '.join(names)}")
    return SignatureHeader(signatures, labels)


def _items(scheme: Scheme, value: str) -> Iterator[str]:
    if not scheme.separator:
        yield value.strip()
        return
    for item in value.split(scheme.separator):
        yield item.strip()


def _decode(scheme: Scheme, text: str) -> bytes | None:
    """Return a signature's bytes, or None if it has not the scheme's prefix and encoding."""
    if not text.startswith(scheme.prefix):
        return None
    text = text.removeprefix(scheme.prefix)
    if scheme.encoding == "hex":
        return bytes.fromhex(text) if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", text) else None
    try:
        return base64.b64decode(text, validate=True) or None
    except ValueError:
        return None


def _parts(scheme: Scheme, reading: Reading, url: str | None) -> Parts:
    """Collect what the template names, each exactly as it was sent.

    Raises:
        Rejected: `malformed_signature` if a part is absent or cannot be what the scheme sends.
    """
    timestamp = ""
    if "{timestamp}" in scheme.signed:
        timestamp = first_text(scheme.timestamp, reading)
        if not timestamp or read_time(timestamp, scheme.unit) is None:
            raise Rejected(Reason.MALFORMED_SIGNATURE, "the timestamp is absent or is none")
    event_id = first_text(scheme.id, reading) if "{id}" in scheme.signed else ""
    return Parts(request=reading.request, timestamp=timestamp, id=event_id, url=url)


def first_text(places: str | tuple[str, ...], reading: Reading) -> str:
    """Return the first present single value, or the empty text."""
    for parts in alternatives(places):
        text = reading.text(parts[0])
        if text is not None:
            return text
    return ""


def _matching(scheme: Scheme, keys: Sequence[Key], signatures: tuple[bytes, ...], content: list[bytes]) -> int:
    """Return the index of the first key that made one of the signatures, or raise `bad_signature`."""
    if scheme.algorithm in _DIGESTS:
        for index, key in enumerate(keys):
            expected = digest(scheme, key, content)
            if any(hmac.compare_digest(expected, signature) for signature in signatures):
                return index
    else:
        from surehand.webhooks import asymmetric

        check = asymmetric.verify_ed25519 if scheme.algorithm == "ed25519" else asymmetric.verify_p256
        joined = b"".join(content)
        for index, key in enumerate(keys):
            if any(check(key.material, signature, joined) for signature in signatures):
                return index
    raise Rejected(Reason.BAD_SIGNATURE, f"none of {len(keys)} keys made this signature")


def digest(scheme: Scheme, key: Key, content: list[bytes]) -> bytes:
    """Return the HMAC of the content under one key."""
    mac = hmac.new(key.material, digestmod=_DIGESTS[scheme.algorithm])
    for chunk in content:
        mac.update(chunk)
    return mac.digest()


def _signed_at(scheme: Scheme, reading: Reading, timestamp: str) -> datetime | None:
    text = timestamp or first_text(scheme.timestamp, reading)
    moment = read_time(text, scheme.unit) if text else None
    if moment is None and scheme.tolerance is not None:
        raise Rejected(Reason.MALFORMED_SIGNATURE, "the signed timestamp is absent or is none")
    return moment


def _token(scheme: Scheme, reading: Reading, keys: Sequence[Key]) -> Verified:
    """Compare a static token. Where the place has several values, every one must be the token."""
    for places in alternatives(scheme.signature):
        values = reading.values(places[0])
        if places[0].kind == "header" and values:
            values = tuple(value and _without_prefix(scheme.prefix, value) for value in values)
        if any(value is not None for value in values):
            break
    else:
        raise Rejected(Reason.MISSING_SIGNATURE, "no token")
    for index, key in enumerate(keys):
        if all(_same(key.material, value) for value in values):
            return Verified(key_index=index, key_id=key.id)
    raise Rejected(Reason.BAD_SIGNATURE, f"the token is none of {len(keys)}")


def _without_prefix(prefix: str, value: str) -> str | None:
    # RFC 9110, 11.1: the name of an authentication scheme has no case.
    return value[len(prefix) :] if value[: len(prefix)].lower() == prefix.lower() else None


def _same(material: bytes, value: str | None) -> bool:
    """Compare by digest, so that not even the token's length can be measured."""
    given = hashlib.sha256((value or "").encode("utf-8", "surrogatepass")).digest()
    return hmac.compare_digest(hashlib.sha256(material).digest(), given) and value is not None
