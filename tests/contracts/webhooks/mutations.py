"""One signed request, and what a hostile or broken sender may make of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from surehand.webhooks.request import HttpRequest

Mutation = Callable[[HttpRequest, str], HttpRequest]


def _header(change: Callable[[str], str]) -> Mutation:
    def mutate(request: HttpRequest, name: str) -> HttpRequest:
        return request.with_headers({name: change(request.headers[name])})

    return mutate


def _body(change: Callable[[bytes], bytes]) -> Mutation:
    def mutate(request: HttpRequest, name: str) -> HttpRequest:
        return replace(request, body=change(request.body))

    return mutate


def _without(request: HttpRequest, name: str) -> HttpRequest:
    return replace(request, headers={key: value for key, value in request.headers.items() if key != name})


def _written_again(body: bytes) -> bytes:
    try:
        return json.dumps(json.loads(body), indent=1).encode()
    except ValueError:
        return body + b" "


def _flipped(body: bytes) -> bytes:
    return bytes([body[0] ^ 1]) + body[1:] if body else b"x"


def _swapped(text: str) -> str:
    """Replace a character near the end by another of its alphabet. (The last one of a base64 text has unused bits.)"""
    at = len(text.rstrip("=")) - 5
    return text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :]


#: Of the signature header, and of the body.
OF_SIGNATURE: dict[str, Mutation] = {
    "untouched": lambda request, _: request,
    "signature missing": _without,
    "signature empty": _header(lambda _: ""),
    "signature garbage": _header(lambda _: "garbage"),
    "signature cut": _header(lambda text: text[:-2]),
    "one character of the signature changed": _header(_swapped),
    "signature in upper case": _header(str.upper),
    "signature not ASCII": _header(lambda text: text + "é"),
    "signature in spaces": _header(lambda text: f" {text} "),
    "signature twice, joined by a comma": _header(lambda text: f"{text},{text}"),
    "only separators": _header(lambda _: ",;= ,,"),
    "body's first bit flipped": _body(_flipped),
    "body with a newline more": _body(lambda body: body + b"\n"),
    "body empty": _body(lambda _: b""),
    "body written again": _body(_written_again),
    "body not UTF-8": _body(lambda body: body + b"\xff"),
}

#: Of the timestamp, where it has a header of its own.
OF_TIMESTAMP: dict[str, Mutation] = {
    "timestamp missing": _without,
    "timestamp one more": _header(lambda text: str(int(text) + 1)),
    "timestamp a word": _header(lambda _: "abc"),
    "timestamp empty": _header(lambda _: ""),
    "timestamp with a fraction": _header(lambda text: f"{text}.5"),
    "timestamp in spaces": _header(lambda text: f" {text} "),
    "timestamp infinite": _header(lambda _: "Infinity"),
}

#: Signed this long before the clock, in seconds; negative is ahead. The libraries read the real clock, so the edges
#: themselves are left to the tests of the engine.
AGES = (0, 280, 320, 3600, -280, -320, -3600)

#: Bodies that senders send.
BODIES = (
    b'{"id":"evt_1","type":"a"}',
    '{"name":"M\u00fcller \u2665","emoji":"\\ud83d\\ude00"}'.encode(),
    b"",
    b"[]\r\n",
    b"not json at all: \x01",
)
