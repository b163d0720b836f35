"""Each answer of a provider has one name, whatever the provider or the network does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

import handlers.provider as module
from handlers.provider import Busy, Declined, Provider, Unavailable, UnexpectedAnswer

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@contextmanager
def answering(raw: bytes | None) -> Iterator[Provider]:
    """A server that reads one request and answers these bytes, or nothing at all."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = threading.Event()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                if raw is None:
                    done.wait(3)  # then it hangs up, which is no timeout
                else:
                    connection.sendall(raw)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Provider(f"http://127.0.0.1:{server.getsockname()[1]}")
        finally:
            done.set()
            thread.join()


def response(status: int, body: str = "{}", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def post(provider: Provider) -> dict[str, object]:
    return provider.post("/charges", {"reference": "o-1"}, idempotency_key="k")


def test_a_json_object_is_returned() -> None:
    with answering(response(201, '{"id": "c-1"}')) as provider:
        assert post(provider) == {"id": "c-1"}


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (response(402), Declined),
        (response(429), Busy),
        (response(503, Retry_After="5"), Busy),
        (response(503), Unavailable),
        (response(500), Unavailable),
        (response(400), UnexpectedAnswer),
        (response(401), UnexpectedAnswer),
        (response(302), UnexpectedAnswer),
        (response(200, "<html>"), UnexpectedAnswer),
        (response(200, "[]"), UnexpectedAnswer),
        (b"", Unavailable),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Unavailable),
        (b"HTTP/1.1 200 X\r\nContent-Length: 90\r\n\r\n{", Unavailable),
    ],
)
def test_every_other_answer_has_one_name(raw: bytes, error: type[Exception]) -> None:
    with answering(raw) as provider, pytest.raises(error):
        post(provider)


def test_5xx_keeps_its_status_so_that_it_is_classified_as_the_providers_failure() -> None:
    with answering(response(502)) as provider, pytest.raises(Unavailable) as raised:
        post(provider)

    assert raised.value.status == 502


def test_silence_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_SECONDS", 0.1)

    with answering(None) as provider, pytest.raises(TimeoutError):
        post(provider)


def test_a_closed_port_is_unavailable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))

        with pytest.raises(Unavailable) as raised:
            post(Provider(f"http://127.0.0.1:{unused.getsockname()[1]}"))

    assert raised.value.status is None


def test_no_error_text_repeats_what_was_sent() -> None:
    with answering(response(500, "o-1")) as provider, pytest.raises(Unavailable) as raised:
        post(provider)

    assert "o-1" not in str(raised.value)


def test_an_address_of_another_scheme_is_refused() -> None:
    with pytest.raises(UnexpectedAnswer, match="http"):
        post(Provider("ftp://127.0.0.1"))


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        (None, None),
        ("7", timedelta(seconds=7)),
        ("0", timedelta(0)),
        ("Sun, 29 Nov 2026 12:00:30 GMT", timedelta(seconds=30)),
        ("Sun, 29 Nov 2026 11:00:00 GMT", timedelta(0)),
        ("soon", None),
        ("-3", None),
        ("1.5", None),
        ("²", None),
    ],
)
def test_retry_after_is_read_in_both_its_forms(header: str | None, wait: timedelta | None) -> None:
    assert module._retry_after(header, NOW) == wait
