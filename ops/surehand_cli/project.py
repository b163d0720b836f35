"""The project that a command works on: found from the current folder, described by `[tool.surehand]`."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from surehand import Service
from surehand_cli.imports import import_failure
from surehand_cli.problem import Problem


@dataclass(frozen=True, slots=True)
class Project:
    """A service's folder and what its pyproject.toml says under `[tool.surehand]`."""

    root: Path
    settings: Mapping[str, Any]

    def service(self) -> Service:
        """Import and return the service that `service = "module:NAME"` names.

        Raises:
            Problem: It is not set, cannot be imported, or is no Service.
        """
        service = self.named("service")
        if not isinstance(service, Service):
            raise Problem(f"[tool.surehand] service = {self.settings['service']!r} is no surehand.Service")
        return service

    def named(self, setting: str) -> Any:
        """Import and return what a setting of the form `module:NAME` names.

        Raises:
            Problem: It is not set, has another form, or cannot be imported.
        """
        where = self.settings.get(setting)
        module, _, name = str(where).partition(":")
        if where is None or not module or not name:
            raise Problem(f'pyproject.toml needs {setting} = "module:NAME" under [tool.surehand]')
        if str(self.root) not in sys.path:
            sys.path.insert(0, str(self.root))
        try:
            loaded = importlib.import_module(module)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's module may raise anything at its import
            said = import_failure(error, self.root)
            raise Problem(f"[tool.surehand] {setting} = {where!r} cannot be loaded: {said}") from None
        try:
            return getattr(loaded, name)
        except AttributeError:
            raise Problem(
                f"[tool.surehand] {setting} = {where!r} cannot be loaded: {module} has no {name}{_others(loaded)}"
            ) from None


def _others(module: ModuleType) -> str:
    services = [name for name, value in vars(module).items() if isinstance(value, Service)]
    return f"; its services are {', '.join(services)}" if services else ""


def find_project(start: Path) -> Project:
    """Return the nearest project at or above *start*.

    Raises:
        Problem: No pyproject.toml with `[tool.surehand]` is there, or it cannot be read.
    """
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if not file.is_file():
            continue
        try:
            settings = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("surehand")
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise Problem(f"{file} cannot be read: {error}") from error
        if settings is not None:
            return Project(folder, settings)
    raise Problem(
        f"no pyproject.toml with [tool.surehand] in {start} or above it: go to the service's folder, or "
        'make one that says, under [tool.surehand], where your Service is: service = "handlers.service:SHOP"'
    )
