"""One JSON request to a service over HTTP: with an idempotency key, two timeouts, and each answer under one name.

The standard library's client, since it costs a cold start next to nothing and lets connecting and reading have
limits of their own. One connection per request: Lambda freezes a function between two invocations, and a connection
kept over that is often dead.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPSConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

#: Ten messages of a batch share the thirty seconds of a function, so one request must not take more than a tenth.
CONNECT_SECONDS = 1.0
READ_SECONDS = 3.0


class Declined(Exception):
    """402: the business said no. Asking again does not help."""


class Busy(Exception):
    """429, or 503 with Retry-After: come back after *retry_after*, or when you like if that is None."""

    def __init__(self, retry_after: timedelta | None) -> None:
        self.retry_after = retry_after
        super().__init__("busy")


class Unavailable(ConnectionError):
    """5xx (*status*), or nobody answered (*status* is None). Whether the request had its effect is not known."""

    def __init__(self, text: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(text)


class UnexpectedAnswer(Exception):
    """Any other answer, such as 400 or 401: this client or its configuration is wrong."""


@dataclass(frozen=True, slots=True)
class Provider:
    """An HTTP service. *url* is its base, such as `https://payments.example`."""

    url: str

    def post(self, path: str, body: Mapping[str, object], *, idempotency_key: str) -> dict[str, Any]:
        """Send *body* as JSON and return the JSON object of the answer.

        Repeating a request with the same key is safe, whatever became of the first: so a TimeoutError needs no care.

        Raises:
            Declined, Busy, Unavailable, UnexpectedAnswer: See there.
            TimeoutError: No connection within `CONNECT_SECONDS`, or silence for `READ_SECONDS`.
        """
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        return self._request("POST", path, headers, json.dumps(body))

    def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the JSON object that is found at *path* for *query*. Raises what `post` raises."""
        return self._request("GET", f"{path}?{urlencode(query)}", {}, None)

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: str | None) -> dict[str, Any]:
        base = urlsplit(self.url)
        connection = self._connection(base.scheme, base.netloc)
        try:
            connection.connect()
            connection.sock.settimeout(READ_SECONDS)
            connection.request(method, base.path.rstrip("/") + path, body=body, headers=dict(headers))
            response = connection.getresponse()
            content = response.read()
        except TimeoutError:
            raise
        except (OSError, HTTPException) as error:
            raise Unavailable(f"no answer from {base.netloc}: {type(error).__name__}") from error
        finally:
            connection.close()
        return _answer(response.status, response.headers, content)

    @staticmethod
    def _connection(scheme: str, address: str) -> HTTPConnection:
        if scheme == "https":
            return HTTPSConnection(address, timeout=CONNECT_SECONDS)
        if scheme == "http":
            return HTTPConnection(address, timeout=CONNECT_SECONDS)
        raise UnexpectedAnswer(f"a service's address must begin with http:// or https://, not {scheme!r}")


def _answer(status: int, headers: HTTPMessage, content: bytes) -> dict[str, Any]:
    if status == 402:
        raise Declined("declined")
    if status == 429 or (status == 503 and headers["Retry-After"]):
        raise Busy(_retry_after(headers["Retry-After"], datetime.now(UTC)))
    if status >= 500:
        raise Unavailable(f"answered {status}", status)
    if not 200 <= status < 300:
        raise UnexpectedAnswer(f"answered {status}")
    try:
        answer = json.loads(content)
    except ValueError:
        raise UnexpectedAnswer("the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise UnexpectedAnswer("the answer is no JSON object")
    return answer


def _retry_after(text: str | None, now: datetime) -> timedelta | None:
    """Read the header's two forms, seconds and a date (RFC 9110, 10.2.3); anything else counts as absent."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text[:9]))
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(timedelta(0), moment - now)
