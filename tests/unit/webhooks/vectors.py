"""The vectors of `vectors.json` as requests, keys and schemes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from surehand.webhooks.keys import Key, read_key
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.table import SCHEMES

CONTENT = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))
VECTORS: list[dict[str, Any]] = CONTENT["vectors"]
HANDSHAKES: list[dict[str, Any]] = CONTENT["handshakes"]

#: What the vectors call a scheme, where the table has another name.
RENAMED = {"adyen-items": "adyen", "adyen-header": "adyen-platform"}


def convoy(name: str) -> Scheme:
    """Convoy's signatures, as a house scheme: simple or advanced, SHA-256 or SHA-512, hex or base64."""
    _, form, algorithm, encoding = name.split("-")
    row: dict[str, Any] = {"algorithm": f"hmac-{algorithm}", "encoding": encoding, "source": "frain-dev/convoy"}
    if form == "simple":
        return Scheme(name=name, signature="header:x-convoy-signature", **row)
    return Scheme(
        name=name,
        signature="header:x-convoy-signature",
        signed="{timestamp},{body}",
        separator=",",
        label="v1",
        timestamp="label:t",
        **row,
    )


#: Plivo signs URL and nonce and no byte of the body.
PLIVO = Scheme(
    name="plivo-v2",
    signature="header:x-plivo-signature-v2",
    signed="{url}{header:x-plivo-signature-v2-nonce}",
    encoding="base64",
    body_signed="none",
)


def scheme_of(vector: dict[str, Any]) -> Scheme:
    name = RENAMED.get(vector["scheme"], vector["scheme"])
    if name.startswith("convoy"):
        return convoy(name)
    if vector["key_format"].startswith("whpk"):
        name = "standard-webhooks-v1a"
    return PLIVO if name == "plivo-v2" else SCHEMES[name]


def keys_of(vector: dict[str, Any]) -> list[Key]:
    key = vector["key"]
    texts = key if isinstance(key, list) else [key["public_key"] if isinstance(key, dict) else key]
    return [read_key(text, scheme_of(vector).key_format, label=f"key{index}") for index, text in enumerate(texts)]


def request_of(vector: dict[str, Any]) -> HttpRequest:
    request = vector["request"]
    query = (request.get("url") or "").partition("?")[2] or request.get("query", "")
    headers = {name.lower(): value for name, value in request.get("headers", {}).items()}
    body = request.get("body_utf8", "")
    if "body_json" in request:
        body = json.dumps(request["body_json"])
    return HttpRequest(method=request["method"], raw_query=query, headers=headers, body=body.encode("utf-8"))


def url_of(vector: dict[str, Any]) -> str | None:
    url = vector["request"].get("url")
    return url.partition("?")[0] if url else None


def now_of(vector: dict[str, Any]) -> datetime:
    """The vector's own time; where it has none, years after every vector was made."""
    moment = vector["now"]
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=moment if moment is not None else 1_800_000_000)
