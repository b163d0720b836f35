"""A stub of the outside world on 127.0.0.1: charges, books and keeps, by idempotency key, or misbehaves.

`POST` to `/charges`, `/movements`, `/uploads`, `/bookings` or `/tickets` has an effect once for each `Idempotency-Key`;
`GET` of the same paths shows what has happened. `GET /invoices?day=…&after=…` lists a page of invoices. A request that
carries one of these words in `card` or `reference` is answered so:

* `declined`: 402, always.
* `busy-twice`: 429 with `Retry-After: 1` to the first two requests of a key.
* `late-once`: the effect happens, and the answer to the first request comes too late.
* `down`: 503, always.

`PUT /mode/up|busy|slow|down` puts the whole provider into that condition.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, cast, get_args
from urllib.parse import parse_qsl, urlsplit

from local.book import Book, Effect, KeyReused
from local.invoices import invoices_of

Mode = Literal["up", "busy", "slow", "down"]

#: What names the effect, and the field within which the order of effects matters, by path.
KINDS = {
    "/bookings": ("booking", "reference"),
    "/charges": ("charge", "reference"),
    "/movements": ("movement", "sku"),
    "/tickets": ("ticket", "reference"),
    "/uploads": ("upload", "day"),
}


@dataclass(slots=True)
class ProviderStub:
    """A running stub.

    *late_seconds* is how long a late answer takes: longer than the client waits. *page_seconds* is how long a page of
    invoices takes.
    """

    url: str
    book: Book
    late_seconds: float
    page_seconds: float
    mode: Mode = "up"
    #: Set when the stub stops, so that a late answer does not keep it waiting.
    stopping: threading.Event = field(default_factory=threading.Event)


@contextmanager
def provider_stub(*, late_seconds: float = 4.0, page_seconds: float = 0.0) -> Iterator[ProviderStub]:
    """Run a stub on a free port of 127.0.0.1 until the block ends."""
    server = _Server(("127.0.0.1", 0), _Request)
    host, port = server.server_address[0], server.server_address[1]
    server.stub = ProviderStub(
        url=f"http://{host!s}:{port}", book=Book(), late_seconds=late_seconds, page_seconds=page_seconds
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.stub
    finally:
        server.stub.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    stub: ProviderStub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, unless it is that the caller has gone: that is what a late answer is for."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes

    @property
    def stub(self) -> ProviderStub:
        return cast("_Server", self.server).stub

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        if place.path == "/invoices":
            self.stub.stopping.wait(self.stub.page_seconds)
            return self._answer(200, {"invoices": invoices_of(dict(parse_qsl(place.query)))})
        if self.path not in KINDS:
            return self._answer(404, {"error": "not found"})
        kind, _ = KINDS[self.path]
        listed = [
            {**effect.request, "idempotency_key": effect.key, "requests": effect.requests}
            for effect in self.stub.book.effects(kind)
        ]
        return self._answer(200, {self.path.strip("/"): listed})

    def do_PUT(self) -> None:
        mode = self.path.removeprefix("/mode/")
        if mode not in get_args(Mode):
            return self._answer(404, {"error": f"modes are {', '.join(get_args(Mode))}"})
        self.stub.mode = cast("Mode", mode)
        return self._answer(200, {"mode": mode})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key = self.headers.get("Idempotency-Key")
        request = _json_object(content)
        if self.path not in KINDS:
            return self._answer(404, {"error": "not found"})
        if key is None or request is None or not isinstance(request.get("reference"), str):
            return self._answer(400, {"error": "a JSON object with a reference, and an Idempotency-Key, are needed"})
        if self._refuse(key, f"{request.get('card', '')} {request['reference']}"):
            return None
        kind, stream = KINDS[self.path]
        try:
            effect = self.stub.book.apply(
                key, kind=kind, reference=request["reference"], stream=str(request.get(stream)), request=request
            )
        except KeyReused:
            return self._answer(409, {"error": "this Idempotency-Key came with another request before"})
        return self._tell(effect, late="late-once" in f"{request.get('card', '')} {request['reference']}")

    def _refuse(self, key: str, words: str) -> bool:
        """Answer with a refusal, without any effect, if the words or the mode ask for one."""
        if "down" in words or self.stub.mode == "down":
            self._answer(503, {"error": "down"})
        elif "declined" in words:
            self._answer(402, {"error": "declined"})
        elif self.stub.mode == "busy" or ("busy-twice" in words and self.stub.book.refusals(key) <= 2):
            self._answer(429, {"error": "busy"}, retry_after=1)
        else:
            return False
        return True

    def _tell(self, effect: Effect, *, late: bool) -> None:
        if self.stub.mode == "slow" or (late and effect.requests == 1):
            self.stub.stopping.wait(self.stub.late_seconds)
        else:
            self.stub.book.tell(effect)
        self._answer(201 if effect.requests == 1 else 200, {"id": f"{effect.kind}-{effect.key[:12]}"})

    def _answer(self, status: int, body: dict[str, Any], *, retry_after: int | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
        """Stay silent: requests hold payload values."""


def _json_object(content: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
