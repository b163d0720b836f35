"""What a local run posts is what a sender would post, or what somebody else would."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

import pytest

from handlers.service import SHOP
from local.webhooks import SECRETS, requests
from surehand.webhooks.keys import read_key
from surehand.webhooks.rejection import Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.verify import verify
from surehand_cli.local.deployed import Deployed
from surehand_cli.local.samples import Fate, Sample
from surehand_cli.local.webhook_requests import WebhookRequest

SAMPLES = {sample.title: sample for sample in requests()}


class Door(ThreadingHTTPServer):
    """Answers as the engine verifies, and keeps the paths."""

    paths: list[str]


class Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = cast("Door", self.server)
        server.paths.append(self.path)
        name = self.path.rpartition("/")[2]
        body = self.rfile.read(int(self.headers["content-length"]))
        request = HttpRequest(
            method="POST",
            path=f"/hooks/{name}",
            headers={key.lower(): value for key, value in self.headers.items()},
            body=body,
        )
        try:
            verify(SCHEMES[name], request, [read_key(SECRETS[name], "utf8")], now=datetime.now(UTC), url=None)
            status = 200
        except Rejected as rejected:
            status = rejected.status
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def door() -> Iterator[Door]:
    server = Door(("127.0.0.1", 0), Answer)
    server.paths = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def deployed(door: Door) -> Deployed:
    return Deployed(SHOP, f"http://127.0.0.1:{door.server_address[1]}", {"shop-local": {"WebhooksApiId": "api1"}})


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=list(SAMPLES))
def test_each_sample_is_answered_as_it_expects(door: Door, sample: Sample) -> None:
    sent = sample.send(deployed(door))

    assert sent.status == sample.status
    assert (sent.operation is None) is sample.fate.at_the_door
    assert door.paths == [f"/_aws/execute-api/api1/$default/hooks/{sample.handler}"]


def test_an_event_and_its_replay_are_one_operation(door: Door) -> None:
    paid = [sample for sample in SAMPLES.values() if sample.handler == "stripe" and not sample.fate.at_the_door]

    assert [sample.fate for sample in paid] == [Fate.SUCCEEDED, Fate.ALREADY_APPLIED]
    assert len({sample.send(deployed(door)).operation for sample in paid}) == 1


def test_a_forged_request_differs_from_the_signed_one_by_its_amount_only() -> None:
    (forged,) = [sample.send for sample in SAMPLES.values() if "forged" in sample.title]

    assert isinstance(forged, WebhookRequest)
    assert forged.forged
    assert replace(forged, forged=False) == SAMPLES["webhook: Stripe, invoice paid"].send
    assert b"4900" in forged.body
