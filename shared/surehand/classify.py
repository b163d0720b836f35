"""Give an exception that chose no fate the code under which it is counted.

Works on class names and documented attributes alone, so that no client library is imported for it: a network error of
boto3, urllib, requests or httpx is a provider's failure without the user's help. Everything unknown is `code.<Type>`,
so that an unknown error pages as a regression and is never filed under somebody else's fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surehand.codes import code_of_type

_TIMEOUTS = frozenset({
    "TimeoutError", "ReadTimeout", "ReadTimeoutError", "ConnectTimeout", "ConnectTimeoutError", "WriteTimeout",
    "PoolTimeout", "Timeout", "TimeoutException", "ServerTimeoutError",
})  # fmt: skip
_UNREACHABLE = frozenset({
    "ConnectionError", "ConnectError", "EndpointConnectionError", "ConnectionClosedError", "NewConnectionError",
    "MaxRetryError", "ProtocolError", "RemoteDisconnected", "ClientConnectorError", "ProxyConnectionError", "gaierror",
    "NetworkError", "RemoteProtocolError", "IncompleteRead",
})  # fmt: skip
#: botocore/retries/standard.py, ThrottledRetryableChecker.
_THROTTLES = frozenset({
    "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException", "TooManyRequestsException",
    "ProvisionedThroughputExceededException", "TransactionInProgressException", "RequestLimitExceeded",
    "BandwidthLimitExceeded", "LimitExceededException", "RequestThrottled", "SlowDown", "PriorRequestNotComplete",
    "EC2ThrottledException",
})  # fmt: skip


def classify(error: BaseException) -> str:
    """Return the failure code of an exception that carries none of its own."""
    status = _status(error)
    if status is not None:
        if status == 429:
            return "provider.throttled"
        if 500 <= status <= 599:
            return "provider.unavailable"
    names = {kind.__name__ for kind in type(error).__mro__}
    if _aws_error_code(error) in _THROTTLES:
        return "provider.throttled"
    reason = getattr(error, "reason", None)
    if "URLError" in names and "HTTPError" not in names:
        return "provider.timeout" if isinstance(reason, TimeoutError) else "provider.unreachable"
    if names & _TIMEOUTS:
        return "provider.timeout"
    if names & _UNREACHABLE:
        return "provider.unreachable"
    if "ValidationError" in names and type(error).__module__.startswith("pydantic"):
        return "data.invalid"
    return code_of_type(error)


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that the exception carries, in any of the four places where clients put it."""
    if isinstance(code := getattr(error, "code", None), int) and "HTTPError" in type(error).__name__:
        return code
    response: Any = getattr(error, "response", None)
    if isinstance(response, Mapping):
        metadata = response.get("ResponseMetadata")
        status = metadata.get("HTTPStatusCode") if isinstance(metadata, Mapping) else None
        return status if isinstance(status, int) else None
    status = getattr(response, "status_code", None)
    if status is None:
        status = getattr(error, "status", None)
    return status if isinstance(status, int) else None


def _aws_error_code(error: BaseException) -> str | None:
    response: Any = getattr(error, "response", None)
    details = response.get("Error") if isinstance(response, Mapping) else None
    code = details.get("Code") if isinstance(details, Mapping) else None
    return code if isinstance(code, str) else None
