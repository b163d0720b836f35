"""Exceptions without a code get one that names the right culprit."""

from __future__ import annotations

import socket
import urllib.error
from email.message import Message
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from pydantic import BaseModel, ValidationError

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


def test_our_own_codes_have_the_shape_of_codes() -> None:
    assert [code for code in CODES if not is_code(code.replace("<Type>", "KeyError"))] == []
