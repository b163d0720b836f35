"""What `-c NAME=VALUE` and pyproject.toml say about one synthesis."""

from __future__ import annotations

import importlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import App

from surehand import Service
from surehand_cdk.watch import Profile

PRODUCTION = "prod"
EMULATOR = "local"
PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


class SettingError(Exception):
    """A `-c` value or `[tool.surehand]` cannot be used; says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One synthesis.

    `-c env=NAME` names the stage: "prod" is protected, "local" is for the emulator, any other (default "dev") comes
    and goes. `-c service=MODULE:NAME` overrides `[tool.surehand] service`. `-c environment='{"NAME": "value"}'` adds
    variables to every function. `-c visibility_seconds=N` shortens the queues' visibility, on "local" only, so that
    what a crash left behind comes back soon. `-c kms=create` encrypts everything with a key of the stack's own,
    `-c kms=KEY_ARN` with an existing one. `-c alarms=full|lean|none` chooses the alarm profile; without it, "full" in
    production and "lean" elsewhere.
    """

    service: Service
    stage: str
    environment: Mapping[str, str]
    visibility_seconds: int | None
    kms: str | None
    alarms: Profile

    @property
    def protect(self) -> bool:
        """Whether what holds state survives a deletion."""
        return self.stage == PRODUCTION

    @property
    def local(self) -> bool:
        """Whether this is for the emulator: nothing kept, no rules, no watch stack."""
        return self.stage == EMULATOR

    @property
    def stack_name(self) -> str:
        """Return the core stack's name; the watch stack's is this with `-watch`."""
        return f"{self.service.name}-{self.stage}"

    @classmethod
    def of(cls, app: App) -> Settings:
        """Read the context of *app*.

        Raises:
            SettingError: A value cannot be used.
        """
        stage = str(app.node.try_get_context("env") or "dev")
        given = app.node.try_get_context("visibility_seconds")
        if given is not None and stage != EMULATOR:
            raise SettingError("-c visibility_seconds is for -c env=local; elsewhere visibility follows the timeout")
        return cls(
            service=_service(app.node.try_get_context("service") or _declared()),
            stage=stage,
            environment=_environment(app.node.try_get_context("environment")),
            visibility_seconds=None if given is None else int(given),
            kms=_key(app.node.try_get_context("kms")),
            alarms=_profile(app.node.try_get_context("alarms") or ("full" if stage == PRODUCTION else "lean")),
        )


def _declared() -> str:
    table = tomllib.loads(PROJECT.read_text(encoding="utf-8")).get("tool", {}).get("surehand", {})
    if not isinstance(name := table.get("service"), str):
        raise SettingError('pyproject.toml needs [tool.surehand] service = "module:NAME"')
    return name


def _service(name: str) -> Service:
    module, _, attribute = name.partition(":")
    found = getattr(importlib.import_module(module), attribute, None) if attribute else None
    if not isinstance(found, Service):
        raise SettingError(f"service {name!r} is no surehand.Service; write MODULE:NAME, as in handlers.service:SHOP")
    return found


def _key(given: object) -> str | None:
    if given is None or given == "create" or str(given).startswith("arn:"):
        return None if given is None else str(given)
    raise SettingError(f"-c kms={given}: write 'create', or the ARN of a key of this Region")


def _profile(given: object) -> Profile:
    try:
        return Profile(str(given))
    except ValueError:
        raise SettingError(f"-c alarms={given}: write one of {', '.join(Profile)}") from None


def _environment(given: object) -> Mapping[str, str]:
    try:
        read = json.loads(given) if isinstance(given, str) else given or {}
    except ValueError:
        raise SettingError("-c environment is not JSON") from None
    if not isinstance(read, dict) or not all(isinstance(value, str) for value in read.values()):
        raise SettingError('-c environment must be an object of strings: \'{"PAYMENTS_URL": "https://…"}\'')
    return read
