"""What a source's requests are signed with: from a file, or from where the ingress has it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from surehand.webhooks.keys import SecretUnusable
from surehand.webhooks.secrets import CURRENT, SecretVersion, stored_texts
from surehand.webhooks.source import Source
from surehand_cli.account.place import Place
from surehand_cli.problem import Problem

SecretFrom = Annotated[
    Path | None,
    typer.Option(
        "--secret-from",
        help="A file with the secret, or - for standard input; without it, the stage's own in Secrets Manager.",
        allow_dash=True,
    ),
]
Tenant = Annotated[str | None, typer.Option("--tenant", help="The tenant in the path.")]


def source_named(place: Place, name: str) -> Source:
    """Return the source called *name* as it is deployed to the place's stage.

    Raises:
        Problem: The service has no such webhook.
    """
    receiving = {handler.name: handler.options.webhook for handler in place.service.handlers}
    found = receiving.get(name)
    if found is None:
        known = ", ".join(other for other, one in receiving.items() if one is not None) or "none"
        raise Problem(f"service '{place.service.name}' has no webhook '{name}'; it has {known}")
    return found.source(name, service=place.service.name, stage=place.stage)


def secrets_of(place: Place, source: Source, given: Path | None, tenant: str | None) -> list[str]:
    """Return the texts of the keys, the current one first.

    Raises:
        Problem: There is none, or it cannot be read. The text never shows it.
        ClientError: Secrets Manager refused; it is told in one line.
    """
    if given is None:
        from surehand.aws.secrets import fetching

        versions = _fetched(fetching(place.account.client("secretsmanager")), source.secret_of(tenant))
    else:
        versions = [SecretVersion(CURRENT, _read(given))]
    try:
        return [text for version in versions for _, text in stored_texts(version)[0]]
    except SecretUnusable as error:
        raise Problem(f"{error}") from None


def _fetched(fetch: Callable[[str], list[SecretVersion]], name: str) -> list[SecretVersion]:
    from aws_lambda_powertools.utilities.parameters import GetParameterError

    try:
        return fetch(name)
    except GetParameterError as error:
        if isinstance(error.__context__, Exception):
            raise error.__context__ from None
        raise


def _read(given: Path) -> str:
    try:
        text = sys.stdin.read() if str(given) == "-" else given.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"--secret-from {given}: {type(error).__name__}") from None
    if not text.strip():
        raise Problem(f"--secret-from {given}: it is empty")
    # An editor ends a file with a line end, which no stored secret has.
    return text.removesuffix("\n").removesuffix("\r")
