"""One HTTP request, as it was sent: the raw bytes of the body and the headers in lower case.

Event shapes read here:

* HTTP API, payload 2.0: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
* function URL (the same shape): https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
* REST API, and HTTP API with payload 1.0:
  https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from surehand.webhooks.rejection import Reason, Rejected

#: What one request may carry, decoded: 4 MiB. Lambda takes 6 MB of event, in which a binary body is base64.
LARGEST_BODY = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request. *headers* have lower-case names, repeated ones joined by a comma; *raw_query* has no `?`.

    *body* is the bytes as sent. *request_id* is the platform's own id of this one request.
    """

    method: str
    path: str = "/"
    raw_query: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = field(default=b"", repr=False)
    request_id: str = ""

    def header(self, name: str) -> str | None:
        """Return a header's value, or None. *name* is in lower case."""
        return self.headers.get(name)

    @property
    def content_type(self) -> str:
        """The media type in lower case, without its parameters; empty if none was sent."""
        return (self.headers.get("content-type") or "").partition(";")[0].strip().lower()

    def with_headers(self, headers: Mapping[str, str]) -> HttpRequest:
        """Return this request with more headers; their names may have any case."""
        merged = {**self.headers, **{name.lower(): value for name, value in headers.items()}}
        return replace(self, headers=MappingProxyType(merged))

    @classmethod
    def from_event(cls, event: Any, *, largest: int = LARGEST_BODY) -> HttpRequest:
        """Read a Lambda event of one of the three shapes. *largest* is in bytes of decoded body.

        Raises:
            Rejected: `too_large`, before anything is decoded, or `malformed` if this is no such event.
        """
        if not isinstance(event, dict):
            raise _malformed("the event is no object")
        context = event.get("requestContext")
        if not isinstance(context, dict):
            raise _malformed("requestContext is absent")
        if event.get("version") == "2.0":
            method, path, raw_query, headers = _payload_2(event, context)
        else:
            method, path, raw_query, headers = _payload_1(event)
        request_id = context.get("requestId")
        return cls(
            method=method,
            path=path,
            raw_query=raw_query,
            headers=MappingProxyType(headers),
            body=_body(event, largest),
            request_id=request_id if isinstance(request_id, str) else "",
        )


def _payload_2(event: dict[str, Any], context: dict[str, Any]) -> tuple[str, str, str, dict[str, str]]:
    http = context.get("http")
    method = http.get("method") if isinstance(http, dict) else None
    path, raw_query = event.get("rawPath"), event.get("rawQueryString") or ""
    if not (isinstance(method, str) and isinstance(path, str) and isinstance(raw_query, str)):
        raise _malformed("method, rawPath or rawQueryString is absent")
    stage = context.get("stage")
    # A named stage stands in front of the path; $default and function URLs have none.
    if isinstance(stage, str) and stage != "$default" and path.startswith(f"/{stage}/"):
        path = path.removeprefix(f"/{stage}")
    return method.upper(), path, raw_query, _headers(event.get("headers"))


def _payload_1(event: dict[str, Any]) -> tuple[str, str, str, dict[str, str]]:
    method, path = event.get("httpMethod"), event.get("path")
    if not (isinstance(method, str) and isinstance(path, str)):
        raise _malformed("httpMethod or path is absent")
    many = event.get("multiValueHeaders")
    headers = _headers(event.get("headers"))
    if isinstance(many, dict):
        headers |= _headers(
            {name: ",".join(map(str, values)) for name, values in many.items() if isinstance(values, list)}
        )
    return method.upper(), path, _query_of(event), headers


def _query_of(event: dict[str, Any]) -> str:
    """Return a query string made from decoded parameters: payload 1.0 does not carry the one that was sent."""
    many, single = event.get("multiValueQueryStringParameters"), event.get("queryStringParameters")
    if isinstance(many, dict):
        pairs = [(name, str(value)) for name, values in many.items() if isinstance(values, list) for value in values]
    elif isinstance(single, dict):
        pairs = [(name, str(value)) for name, value in single.items()]
    else:
        return ""
    try:
        return urlencode(pairs)
    except UnicodeEncodeError:
        raise _malformed("the query string is not text") from None


def _headers(raw: Any) -> dict[str, str]:
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise _malformed("headers is no object")
    headers: dict[str, str] = {}
    for name, value in raw.items():
        if not isinstance(value, str):
            raise _malformed("a header is not text")
        lower = name.lower()
        headers[lower] = f"{headers[lower]},{value}" if lower in headers else value
    return headers


def _body(event: dict[str, Any], largest: int) -> bytes:
    body, encoded = event.get("body"), event.get("isBase64Encoded", False)
    if body is None or body == "":
        return b""
    if not isinstance(body, str) or not isinstance(encoded, bool):
        raise _malformed("body or isBase64Encoded has the wrong type")
    if len(body) > (largest * 4 // 3 + 4 if encoded else largest):
        raise Rejected(Reason.TOO_LARGE, "the body is larger than the cap")
    try:
        raw = base64.b64decode(body, validate=True) if encoded else body.encode("utf-8")
    except (binascii.Error, ValueError):
        raise _malformed("the body is not the base64 or the text that the platform announced") from None
    if len(raw) > largest:
        raise Rejected(Reason.TOO_LARGE, "the body is larger than the cap")
    return raw


def _malformed(detail: str) -> Rejected:
    return Rejected(Reason.MALFORMED, detail)
