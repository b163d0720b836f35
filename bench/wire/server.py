"""The same answers over HTTP on 127.0.0.1, for a process that cannot be reached into: a cold start."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bench.wire.tables import Tables


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tables: Tables

    def do_POST(self) -> None:
        """Answer one call."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, _, call = self.headers["X-Amz-Target"].partition(".")
        status, body = self.tables.answer(call, request)
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: the figures are the output."""


@contextmanager
def tables_over_http() -> Iterator[str]:
    """Yield the address of an empty DynamoDB."""
    handler = type("_Bound", (_Request,), {"tables": Tables()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
