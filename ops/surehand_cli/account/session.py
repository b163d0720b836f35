"""An AWS account as one command sees it: clients, the caller, and AWS's errors in one line."""

from __future__ import annotations

import getpass
import os
import platform
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from surehand_cli.problem import Problem, Unreachable

#: An operator waits longer than a function does, and a throttled listing should come to its end.
_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 5, 30, 6


@dataclass
class Account:
    """Profile, Region and endpoint as given; what is None is the AWS configuration's to say."""

    profile: str | None = None
    region: str | None = None
    endpoint_url: str | None = None
    _clients: dict[str, Any] = field(default_factory=dict)

    def client(self, name: str) -> Any:
        """Return the client of a service, built once.

        Raises:
            Unreachable: The profile does not exist, or no Region is known.
        """
        if name not in self._clients:
            self._clients[name] = self._build(name)
        return self._clients[name]

    @cached_property
    def actor(self) -> str:
        """Who acts: the caller's ARN, or user and machine where STS does not say it."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return str(self.client("sts").get_caller_identity()["Arn"])
        except (BotoCoreError, ClientError, Unreachable):
            return f"{getpass.getuser()}@{platform.node()}"

    def _build(self, name: str) -> Any:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
            max_pool_connections=16,
        )
        try:
            # Lambda, the AWS CLI and every other SDK read AWS_REGION; boto3 reads only AWS_DEFAULT_REGION.
            region = self.region or os.environ.get("AWS_REGION") or None
            session = boto3.session.Session(profile_name=self.profile, region_name=region)
            return session.client(name, endpoint_url=self.endpoint_url, config=config)
        except (BotoCoreError, ValueError) as error:
            raise Unreachable(explained(error)) from error


def explained(error: Exception) -> str:
    """Return one line for an error of the AWS SDK: what failed and what to do, without a request's content."""
    from botocore.exceptions import ClientError, EndpointConnectionError, ProfileNotFound

    if _lacks_credentials(error):
        why = "no AWS credentials" if type(error).__name__ == "NoCredentialsError" else type(error).__name__
        return f"{why}; log in (`aws sso login`) or name a profile with --profile"
    if isinstance(error, ProfileNotFound):
        return f"{error}; `aws configure list-profiles` lists them"
    if isinstance(error, ClientError):
        code = str(error.response.get("Error", {}).get("Code", "ClientError"))
        advice = _ADVICE.get(code.rpartition(".")[2], "")
        return f"AWS refused {error.operation_name}: {code}{advice}"
    if type(error).__name__ == "NoRegionError":
        return "no AWS Region; name one with --region or AWS_REGION"
    if isinstance(error, EndpointConnectionError):
        return (
            f"AWS cannot be reached: {str(error)[:200]}; is the network there, are --endpoint-url and --region right?"
        )
    return f"AWS cannot be reached: {type(error).__name__}: {str(error)[:200]}"


def denies_all(error: Exception) -> bool:
    """Tell whether an error holds for every call: no credentials, or none that AWS takes."""
    from botocore.exceptions import ClientError

    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "")).rpartition(".")[2] in _NOT_TAKEN
    return _lacks_credentials(error)


def _lacks_credentials(error: Exception) -> bool:
    from botocore import exceptions as botocore

    return isinstance(
        error,
        botocore.NoCredentialsError
        | botocore.PartialCredentialsError
        | botocore.CredentialRetrievalError
        | botocore.SSOError
        | botocore.TokenRetrievalError,
    )


def as_problem(error: Exception) -> Problem | None:
    """Return the Problem that an exception of the AWS SDK, the ledger or a declaration comes to; None for any other."""
    from botocore.exceptions import BotoCoreError, ClientError

    from surehand.errors import DeclarationError, LedgerUnavailable

    if isinstance(error, BotoCoreError | ClientError):
        return Unreachable(explained(error))
    if isinstance(error, DeclarationError):  # a name that only this stage makes too long
        return Problem(str(error))
    if isinstance(error, LedgerUnavailable):
        if isinstance(error.__cause__, BotoCoreError | ClientError):
            cause = error.__cause__
            if denies_all(cause) or isinstance(cause, BotoCoreError):
                return Unreachable(explained(cause))
        hint = (
            "; is --stage right, and may you read the table?"
            if "NotFound" in str(error) or "Denied" in str(error)
            else ""
        )
        return Unreachable(f"the ledger cannot be read: {error}{hint}")
    return None


def is_missing(error: Exception) -> bool:
    """Tell whether an error says that the endpoint does not have this call: moto and emulators lack some."""
    from botocore.exceptions import ClientError

    if isinstance(error, NotImplementedError):
        return True
    if not isinstance(error, ClientError):
        return False
    code = str(error.response.get("Error", {}).get("Code", "")).rpartition(".")[2]
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return code in _MISSING or status in (404, 501)


_MISSING = frozenset({
    "InvalidAction", "NotImplemented", "UnknownOperation", "UnknownOperationException", "UnsupportedOperation",
})  # fmt: skip
_NOT_TAKEN = frozenset({
    "ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "UnrecognizedClientException",
    "SignatureDoesNotMatch", "InvalidSignatureException", "InvalidAccessKeyId", "AuthFailure",
})  # fmt: skip
_EXPIRED = "; the credentials have expired, log in again"
_DENIED = "; ask for the policy in ops/policies/"
_ADVICE = {
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "RequestExpired": _EXPIRED,
    "InvalidClientTokenId": "; these credentials are not valid here",
    "UnrecognizedClientException": "; these credentials are not valid here",
    "AccessDenied": _DENIED,
    "AccessDeniedException": _DENIED,
    "NonExistentQueue": "; is the name right, and --stage?",
    "QueueDoesNotExist": "; is the name right, and --stage?",
    "ResourceNotFoundException": "; is the name right, and --stage?",
}
