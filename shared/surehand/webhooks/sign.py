"""Sign a request as its sender would: for local use, samples and tests.

request = sign(SCHEMES["stripe"], HttpRequest(method="POST", body=body), secret, now=now)
"""

from __future__ import annotations

import base64
import json
import shlex
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from surehand.errors import DeclarationError
from surehand.webhooks.keys import Key, read_key
from surehand.webhooks.place import Place, Reading, alternatives
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.signed import Parts, chunks
from surehand.webhooks.verifier import Signer
from surehand.webhooks.verify import digest, first_text


def sign(
    scheme: Scheme,
    request: HttpRequest,
    secret: str,
    *,
    now: datetime,
    event_id: str | None = None,
    url: str | None = None,
) -> HttpRequest:
    """Return the request with everything that the scheme's sender adds.

    *secret* is the stored text; for a scheme with a public key it is the private one: for Ed25519 `whsk_` or hex, for
    ECDSA the PKCS #8 DER in base64. *event_id* is used where the sender puts an id into a header; without it, one that
    is there already is kept, or `evt_local_1` is used. A type that is part of the id is the caller's to give. Where the
    sender writes time, token or signature into the body, the body is written anew.

    Raises:
        DeclarationError: The scheme has a verifier that cannot sign, or signs the URL and none is given.
        SecretUnusable: The secret is not of the scheme's format.
    """
    if scheme.needs_url and url is None:
        raise DeclarationError(f"scheme '{scheme.name}' signs the public URL: give it")
    if scheme.verifier is not None:
        if not isinstance(scheme.verifier, Signer):
            raise DeclarationError(f"the verifier of scheme '{scheme.name}' has no sign()")
        return scheme.verifier.sign(request, read_key(secret, scheme.key_format), url=url)
    if scheme.algorithm == "token":
        return _put(request, alternatives(scheme.signature)[0][0], scheme.prefix + secret, bare=secret)
    timestamp = _timestamp(scheme, now)
    for places in alternatives(scheme.timestamp)[:1]:
        if places[0].kind != "label":
            request = _put(request, places[0], timestamp)
    for places in alternatives(scheme.id)[:1]:
        types = {place for alternative in alternatives(scheme.type) for place in alternative}
        for place in (place for place in places if place.kind == "header" and place not in types):
            request = _put(request, place, event_id or request.header(place.path) or "evt_local_1")
    signed_id = first_text(scheme.id, Reading(request)) if scheme.id else ""
    parts = Parts(request=request, timestamp=timestamp, id=signed_id, url=url)
    signature = _encoded(scheme, _signature(scheme, secret, chunks(scheme.signed, parts)))
    return _put(request, alternatives(scheme.signature)[0][0], _header(scheme, timestamp, signature))


def curl(request: HttpRequest, url: str, *, body_file: str | None = None) -> str:
    """Return a shell command that sends the request. The body is read from *body_file*, or stands in the command.

    Raises:
        ValueError: The body is no text and there is no file to read it from.
    """
    target = f"{url}?{request.raw_query}" if request.raw_query else url
    words = ["curl", "--request", request.method, target]
    for name, value in request.headers.items():
        words += ["--header", f"{name}: {value}"]
    words += ["--data-binary", f"@{body_file}" if body_file is not None else request.body.decode("utf-8")]
    return shlex.join(words)


def _timestamp(scheme: Scheme, now: datetime) -> str:
    if scheme.unit == "iso":
        return now.astimezone(UTC).isoformat(timespec="seconds")
    return str(int(now.timestamp() * (1000 if scheme.unit == "ms" else 1)))


def _signature(scheme: Scheme, secret: str, content: list[bytes]) -> bytes:
    if not scheme.needs_crypto:
        return digest(scheme, read_key(secret, scheme.key_format), content)
    from surehand.webhooks import asymmetric

    joined = b"".join(content)
    if scheme.algorithm == "ecdsa-p256":
        return asymmetric.sign_p256(read_key(secret, "base64").material, joined)
    private = _private_key(scheme, secret)
    return asymmetric.sign_ed25519(private.material, joined)


def _private_key(scheme: Scheme, secret: str) -> Key:
    if scheme.key_format == "ed25519-hex":
        return read_key(secret, "hex")
    return read_key(secret.removeprefix("whsk_"), "base64")


def _encoded(scheme: Scheme, signature: bytes) -> str:
    text = signature.hex() if scheme.encoding == "hex" else base64.b64encode(signature).decode("ascii")
    return scheme.prefix + text


def _header(scheme: Scheme, timestamp: str, signature: str) -> str:
    if not scheme.label:
        return signature
    items = [scheme.label + scheme.pair + signature]
    for places in alternatives(scheme.timestamp)[:1]:
        if places[0].kind == "label":
            items.insert(0, places[0].path + scheme.pair + timestamp)
    return scheme.separator.join(items)


def _put(request: HttpRequest, place: Place, value: str, *, bare: str | None = None) -> HttpRequest:
    """Return the request with a value at a place; *bare* is the value where a header's prefix has no business."""
    if place.kind == "header":
        return request.with_headers({place.path: value})
    bare = value if bare is None else bare
    if place.kind == "query":
        query = "&".join(filter(None, (request.raw_query, urlencode({place.path: bare}))))
        return replace(request, raw_query=query)
    body = json.loads(request.body)
    _set(body, place.path.split("."), int(bare) if bare.isdigit() else bare)
    return replace(request, body=json.dumps(body, separators=(",", ":")).encode("utf-8"))


def _set(value: Any, steps: list[str], new: str | int) -> None:
    """Set a field of a JSON body; `[]` sets it in every item."""
    name = steps[0].removesuffix("[]")
    if len(steps) == 1:
        value[name] = new
        return
    inner = value[name] if name else value
    for item in inner if steps[0].endswith("[]") else [inner]:
        _set(item, steps[1:], new)
