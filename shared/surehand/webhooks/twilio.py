"""Twilio: a signature over the public URL and the decoded form fields, or over a URL that carries the body's hash.

Source: https://www.twilio.com/docs/usage/webhooks/webhooks-security and twilio-python `request_validator.py`.
Because decoded fields are signed and not bytes, another encoding of the same fields keeps the signature: the row
says `body_signed="partial"`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode, urlsplit, urlunsplit

from surehand.webhooks.keys import Key
from surehand.webhooks.place import Place, Reading
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.verifier import Verified, public_url

SIGNATURE = "x-twilio-signature"
#: Present on webhooks that are signed with a shared key: `key=<id>,algorithm=HMAC_SHA256`.
SETTINGS = "x-twilio-webhooks-signature-settings"

_FORM = "application/x-www-form-urlencoded"
_HASHES = {"HMAC_SHA1": "sha1", "HMAC_SHA256": "sha256"}


class TwilioVerifier:
    """Verifies `X-Twilio-Signature`. The URL is tried with and without its port, as Twilio itself signs either."""

    needs_url = True

    def verify(self, request: HttpRequest, keys: Sequence[Key], *, now: datetime, url: str | None) -> Verified:  # noqa: ARG002 - Twilio signs no time
        """See `Verifier`."""
        header = request.header(SIGNATURE)
        if header is None:
            raise Rejected(Reason.MISSING_SIGNATURE, f"no header {SIGNATURE}")
        try:
            signature = base64.b64decode(header, validate=True)
        except ValueError:
            raise Rejected(Reason.MALFORMED_SIGNATURE, f"{SIGNATURE} is no base64") from None
        contents = [_content(candidate, request) for candidate in _with_and_without_port(url or "")]
        for index, key in enumerate(keys):
            if any(hmac.compare_digest(_mac(key, content, request), signature) for content in contents):
                return Verified(key_index=index, key_id=key.id)
        raise Rejected(Reason.BAD_SIGNATURE, f"none of {len(keys)} keys made this signature")

    def sign(self, request: HttpRequest, key: Key, *, url: str | None) -> HttpRequest:
        """See `Signer`. A body that is no form is bound by `bodySHA256` in the query string, as Twilio does it."""
        if request.content_type != _FORM and request.body:
            pairs = [("bodySHA256", hashlib.sha256(request.body).hexdigest())]
            query = "&".join(filter(None, (request.raw_query, urlencode(pairs))))
            request = HttpRequest(
                method=request.method, path=request.path, raw_query=query, headers=request.headers, body=request.body
            )
        mac = _mac(key, _content(url or "", request), request)
        return request.with_headers({SIGNATURE: base64.b64encode(mac).decode("ascii")})


def _mac(key: Key, content: bytes, request: HttpRequest) -> bytes:
    return hmac.digest(key.material, content, _algorithm(request))


def _algorithm(request: HttpRequest) -> str:
    for part in (request.header(SETTINGS) or "").split(","):
        name, _, value = part.partition("=")
        if name.strip() == "algorithm" and value.strip():
            algorithm = _HASHES.get(value.strip().upper())
            if algorithm is None:
                raise Rejected(Reason.MALFORMED_SIGNATURE, f"{SETTINGS} names an unknown algorithm")
            return algorithm
    return "sha1"


def _content(url: str, request: HttpRequest) -> bytes:
    """Return what Twilio signs: the URL, and a form's fields sorted by name, each with its different values sorted."""
    reading = Reading(request)
    content = public_url(url, request)
    if request.content_type == _FORM:
        if reading.form is None:
            raise Rejected(Reason.MALFORMED, "the body is no form")
        for name in sorted(reading.form):
            content += "".join(name + value for value in sorted(set(reading.form[name])))
    elif request.body:
        given = reading.text(Place("query", "bodySHA256"))
        if given is None:
            raise Rejected(Reason.MISSING_SIGNATURE, "the body is no form and the URL carries no bodySHA256")
        if not hmac.compare_digest(hashlib.sha256(request.body).hexdigest().encode(), given.lower().encode("utf-8")):
            raise Rejected(Reason.BAD_SIGNATURE, "the body is not the one that bodySHA256 names")
    return content.encode("utf-8", "surrogatepass")


def _with_and_without_port(url: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = {"https": 443, "http": 80}.get(parts.scheme) if parts.port is None else parts.port
    bare, full = parts._replace(netloc=host), parts._replace(netloc=f"{host}:{port}")
    return tuple(dict.fromkeys((url, urlunsplit(bare), urlunsplit(full))))
