"""Answers in the place of AWS, at botocore's `before-send`, after a round trip of a fixed length."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

from bench.wire.conditions import NotUnderstood
from bench.wire.tables import Tables

_HEADERS = HTTPHeaders.from_pairs([("Content-Type", "application/x-amz-json-1.0")])


class _Body:
    """What botocore reads an answer from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self) -> Iterator[bytes]:
        yield self._content


class Responder:
    """Answers every request of the clients it is attached to.

    *round_trip* is how long a request takes, our own work on it included; *cpu* is that work in seconds, which is not
    the measured side's and is subtracted where CPU is the figure.
    """

    def __init__(self, *, round_trip: timedelta = timedelta(0), account: bool = False) -> None:
        self.tables = Tables(account=account)
        self.cpu = 0.0
        #: When each request came in and its answer went out, in `perf_counter`'s seconds.
        self.moments: list[tuple[float, float]] = []
        self._round_trip = round_trip.total_seconds()
        self._account = account
        self._lock = threading.Lock()

    @property
    def round_trip(self) -> float:
        """Return the median of what a round trip took in the end, in seconds: a busy machine wakes late."""
        return statistics.median(ended - began for began, ended in self.moments)

    def attach(self, client: Any) -> None:
        """Answer this client's requests from now on."""
        client.meta.events.register("before-send", self._answer)

    def _answer(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        began, worked = time.perf_counter(), time.thread_time()
        raw = request.body if isinstance(request.body, bytes) else str(request.body).encode()
        status, body = self._call(_text(request.headers["X-Amz-Target"]), json.loads(raw))
        content = json.dumps(body, separators=(",", ":")).encode()
        answer = AWSResponse(request.url, status, _HEADERS, _Body(content))
        with self._lock:
            self.cpu += time.thread_time() - worked
            self.tables.used.request_bytes += len(raw)
        left = self._round_trip - (time.perf_counter() - began)
        if left > 0:
            time.sleep(left)
        self.moments.append((began, time.perf_counter()))
        return answer

    def _call(self, target: str, request: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        service, _, call = target.partition(".")
        if service.startswith("DynamoDB"):
            return self.tables.answer(call, request)
        if call in ("ChangeMessageVisibilityBatch", "SendMessageBatch"):
            self.tables.used.calls[call] = self.tables.used.calls.get(call, 0) + 1
            return 200, {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]], "Failed": []}
        raise NotUnderstood(target)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
