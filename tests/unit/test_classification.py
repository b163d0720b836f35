"""Exceptions without a code get one that names the right culprit."""

from __future__ import annotations

import socket
import urllib.error
from email.message import Message
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from botocore.retries.standard import ThrottledRetryableChecker
from pydantic import BaseModel, PydanticUserError, ValidationError

from surehand.classify import classify
from surehand.codes import CODES, failure_class, is_code


def aws(code: str, status: int) -> ClientError:
    answer: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "PutItem")


def http(status: int) -> urllib.error.HTTPError:
    return urllib.error.HTTPError("http://x", status, "text", Message(), None)


def invalid() -> ValidationError:
    class Model(BaseModel):
        number: int

    try:
        Model.model_validate({"number": "x"})
    except ValidationError as error:
        return error
    raise AssertionError


class Requests(Exception):
    """Like requests.HTTPError: the response hangs on the exception."""

    def __init__(self, status: int) -> None:
        self.response = type("Response", (), {"status_code": status})()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TimeoutError(), "provider.timeout"),
        (ConnectionResetError(), "provider.unreachable"),
        (ConnectionRefusedError(), "provider.unreachable"),
        (socket.gaierror(), "provider.unreachable"),
        (urllib.error.URLError("refused"), "provider.unreachable"),
        (urllib.error.URLError(TimeoutError()), "provider.timeout"),
        (http(429), "provider.throttled"),
        (http(503), "provider.unavailable"),
        (http(404), "code.HTTPError"),
        (Requests(502), "provider.unavailable"),
        (Requests(429), "provider.throttled"),
        (aws("ThrottlingException", 400), "provider.throttled"),
        (aws("InternalServerError", 500), "provider.unavailable"),
        (aws("ValidationException", 400), "code.ClientError"),
        (ReadTimeoutError(endpoint_url="x"), "provider.timeout"),
        (ConnectTimeoutError(endpoint_url="x"), "provider.timeout"),
        (EndpointConnectionError(endpoint_url="x"), "provider.unreachable"),
        (invalid(), "data.invalid"),
        (KeyError("secret"), "code.KeyError"),
        (ZeroDivisionError(), "code.ZeroDivisionError"),
    ],
)
def test_an_exception_is_classified_by_what_it_is(error, code) -> None:
    assert classify(error) == code


def named(name: str, **attributes: object) -> Exception:
    """Return an exception of a client library that need not be installed here."""
    made: Exception = type(name, (Exception,), attributes)()
    return made


@pytest.mark.parametrize(
    "name",
    [
        *("ConnectTimeout", "ReadTimeout", "Timeout"),  # requests
        *("ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "TimeoutException"),  # httpx
        *("ConnectTimeoutError", "ReadTimeoutError"),  # urllib3, botocore
        "ServerTimeoutError",  # aiohttp
    ],
)
def test_a_client_s_own_timeout_is_the_provider_s(name) -> None:
    assert classify(named(name)) == "provider.timeout"


@pytest.mark.parametrize(
    "name",
    [
        "ConnectionError",  # requests
        *("ConnectError", "NetworkError", "RemoteProtocolError"),  # httpx
        *("NewConnectionError", "MaxRetryError", "ProtocolError", "IncompleteRead"),  # urllib3
        *("EndpointConnectionError", "ConnectionClosedError", "ProxyConnectionError"),  # botocore
        *("ClientConnectorError",),  # aiohttp
        *("RemoteDisconnected", "IncompleteRead"),  # http.client
    ],
)
def test_a_client_s_own_word_for_no_connection_is_the_provider_s(name) -> None:
    assert classify(named(name)) == "provider.unreachable"


def test_what_botocore_retries_as_a_throttle_is_one_here_too() -> None:
    known = ThrottledRetryableChecker()._THROTTLED_ERROR_CODES  # type: ignore[attr-defined]
    assert {code: classify(aws(code, 400)) for code in known} == dict.fromkeys(known, "provider.throttled")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (428, "code.Requests"),
        (430, "code.Requests"),
        (499, "code.Requests"),
        (500, "provider.unavailable"),
        (599, "provider.unavailable"),
        (600, "code.Requests"),
    ],
)
def test_only_429_is_a_throttle_and_only_5xx_an_outage(status, code) -> None:
    assert classify(Requests(status)) == code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (named("ClientResponseError", status=503), "provider.unavailable"),
        (named("ServerError", response=object(), status=429), "provider.throttled"),
        (named("ServerError", response=type("Response", (), {"status_code": 404}), status=503), "code.ServerError"),
        (named("ServerError", status="503"), "code.ServerError"),
        (named("MyHTTPError", code=503), "provider.unavailable"),
        (named("MyHTTPError", code="503"), "code.MyHTTPError"),
        (named("Declined", code=503), "code.Declined"),
    ],
)
def test_a_status_counts_where_http_clients_put_it_and_nowhere_else(error, code) -> None:
    assert classify(error) == code


@pytest.mark.parametrize(
    "response",
    [
        {},
        {"Error": None, "ResponseMetadata": None},
        {"Error": "SlowDown", "ResponseMetadata": 503},
        {"Error": {}, "ResponseMetadata": {}},
        {"Error": {"Code": ["SlowDown"]}, "ResponseMetadata": {"HTTPStatusCode": "503"}},
    ],
)
def test_a_response_that_only_looks_like_aws_s_says_nothing(response) -> None:
    assert classify(named("ClientError", response=response, status=503)) == "code.ClientError"


def test_only_a_validation_error_and_only_pydantic_s_is_a_word_about_the_data() -> None:
    assert classify(named("ValidationError")) == "code.ValidationError"
    assert classify(PydanticUserError("no such model", code=None)) == "code.PydanticUserError"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Ünfug", "code._nfug"),
        ("not a name", "code.not_a_name"),
        ("", "code.Exception"),
        ("E" * 65, "code." + "E" * 64),
    ],
)
def test_an_exception_s_name_is_made_into_a_code(name, code) -> None:
    assert classify(named(name)) == code
    assert is_code(code)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("provider.busy", "provider"),
        ("effect.timeout", "provider"),
        ("data.card_declined", "data"),
        ("input.schema", "data"),
        ("code.KeyError", "code"),
        ("crash.poison", "code"),
        ("ledger.unavailable", "code"),
        ("schedule.too_long", "code"),
        ("weather.rain", "code"),
    ],
)
def test_every_code_belongs_to_one_alarm_class(code, expected) -> None:
    assert failure_class(code) == expected


@pytest.mark.parametrize(
    "text", ["", "provider", ".x", "provider.", "Provider.x", "a b.c", "provider." + "x" * 200, "p.\n"]
)
def test_what_is_no_code_is_told(text) -> None:
    assert not is_code(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("provider." + "x" * 64, True),
        ("provider." + "x" * 65, False),
        ("p.a.b.c.d", True),
        ("p.a.b.c.d.e", False),
        ("p" * 36 + "." + "x" * 63, True),
        ("p" * 37 + "." + "x" * 63, False),
    ],
)
def test_a_code_has_at_most_four_names_of_64_and_a_hundred_characters(text, is_one) -> None:
    assert is_code(text) is is_one


def test_our_own_codes_have_the_shape_of_codes() -> None:
    assert [code for code in CODES if not is_code(code.replace("<Type>", "KeyError"))] == []
