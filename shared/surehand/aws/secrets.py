"""Signing secrets from Secrets Manager, by Powertools' provider: the current version and the one before it.

Powertools' own cache is passed over, because a rotation must be noticed by what fails to verify, not by time:
`surehand.webhooks.secrets.SecretCache` decides when to fetch.

Source of the labels: https://docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.parameters import GetParameterError, SecretsProvider
from botocore.exceptions import ClientError

from surehand.webhooks.secrets import CURRENT, SecretVersion

PREVIOUS = "AWSPREVIOUS"


def fetching(client: Any) -> Callable[[str], list[SecretVersion]]:
    """Return a function that fetches the live versions of a secret by its name, the current one first.

    The function raises whatever Secrets Manager answers, but for a secret that has no previous version.
    """
    provider = SecretsProvider(boto3_client=client)

    def version(name: str, label: str) -> SecretVersion:
        value = provider.get(name, force_fetch=True, VersionStage=label)
        return SecretVersion(label, value.decode("utf-8") if isinstance(value, bytes) else str(value))

    def fetch(name: str) -> list[SecretVersion]:
        current = version(name, CURRENT)
        try:
            return [current, version(name, PREVIOUS)]
        except GetParameterError as error:
            if not _absent(error):
                raise
            return [current]

    return fetch


def _absent(error: GetParameterError) -> bool:
    cause = error.__context__
    return isinstance(cause, ClientError) and cause.response["Error"]["Code"] == "ResourceNotFoundException"
