"""The bytes that a signature covers, made from a template and one request."""

from __future__ import annotations

import re
from dataclasses import dataclass

from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.template import parse_template, separator_after
from surehand.webhooks.verifier import public_url

#: RFC 3986, 3.4: what a query string may consist of. A body that starts with `{` or `[` cannot be passed off as one.
_QUERY = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]*")

#: https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation:
#: the escapes that are decoded in the URI before it is signed.
_HUBSPOT = {
    "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$",
    "%27": "'", "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
}  # fmt: skip
_HUBSPOT_ESCAPES = re.compile("|".join(_HUBSPOT), re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The values that a template may name. *timestamp* and *id* are the texts as sent, empty if not needed."""

    request: HttpRequest
    timestamp: str = ""
    id: str = ""
    url: str | None = None


def chunks(template: str, parts: Parts) -> list[bytes]:
    """Return the signed content in pieces, so that a large body is not copied.

    Raises:
        Rejected: `malformed_signature` if a value is absent, or contains the separator that ends it: then the same
            signature would cover another request too.
    """
    pieces = parse_template(template)
    content: list[bytes] = []
    for index, piece in enumerate(pieces):
        if not piece.name:
            content.append(piece.literal.encode("utf-8"))
        elif piece.name == "body":
            content.append(parts.request.body)
        else:
            value = _value(piece.name, parts)
            end = separator_after(pieces, index)
            if not value or (end and end in value and piece.name in ("id", "timestamp")):
                raise Rejected(Reason.MALFORMED_SIGNATURE, f"{piece.name} is absent or contains the separator")
            content.append(_bytes(value))
    return content


def _value(name: str, parts: Parts) -> str:
    request = parts.request
    if name == "timestamp":
        return parts.timestamp
    if name == "id":
        return parts.id
    if name == "method":
        return request.method
    if name.startswith("header:"):
        return request.header(name.removeprefix("header:")) or ""
    if name == "fixed_url":
        return parts.url or ""
    if not _QUERY.fullmatch(request.raw_query):
        raise Rejected(Reason.MALFORMED_SIGNATURE, "the query string has characters that RFC 3986 does not allow")
    url = public_url(parts.url or "", request)
    return _HUBSPOT_ESCAPES.sub(lambda match: _HUBSPOT[match[0].upper()], url) if name == "hubspot_url" else url


def _bytes(value: str) -> bytes:
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        raise Rejected(Reason.MALFORMED_SIGNATURE, "a signed value is not text") from None
