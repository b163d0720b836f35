"""A named list of handlers: what infra, command line and tests read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from surehand.declare.handler import Handler
from surehand.declare.options import check_name
from surehand.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class Service:
    """One deployable set of handlers.

    Raises:
        DeclarationError: Two handlers have one name, a handler is no attribute of its module (Lambda could not find
            it), or a handler sends to one that is not in the service.
    """

    name: str
    handlers: tuple[Handler[Any], ...]

    def __init__(self, name: str, handlers: Sequence[Handler[Any]]) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "handlers", tuple(handlers))
        check_name(name, "Service")
        seen: dict[str, Handler[Any]] = {}
        for handler in self.handlers:
            if not isinstance(handler, Handler):
                raise DeclarationError(f"Service '{name}': {handler!r} is no handler. Declare it with @queue(…) first.")
            if handler.name in seen:
                raise DeclarationError(
                    f"Service '{name}': {seen[handler.name]!r} and {handler!r} have the same name. A name is the "
                    "identity of queue, ledger keys and alarms, so each needs its own."
                )
            seen[handler.name] = handler
            self._check_attribute(handler)
        for handler in self.handlers:
            for target in target_names(handler):
                if target not in seen:
                    raise DeclarationError(
                        f"Handler '{handler.name}' sends to '{target}', which is not in service '{name}' "
                        f"({', '.join(seen)})."
                    )

    def __getitem__(self, name: str) -> Handler[Any]:
        """Return the handler called *name*; KeyError with the known names otherwise."""
        for handler in self.handlers:
            if handler.name == name:
                return handler
        raise KeyError(
            f"Service '{self.name}' has no handler '{name}', only {', '.join(h.name for h in self.handlers)}."
        )

    def _check_attribute(self, handler: Handler[Any]) -> None:
        module = sys.modules.get(handler.__module__)
        if "<locals>" in handler.__qualname__ or getattr(module, handler.__name__, None) is not handler:
            raise DeclarationError(
                f"Service '{self.name}': handler '{handler.name}' must be the attribute '{handler.__name__}' of module "
                f"{handler.__module__}: Lambda finds it by that name. Declare it at the top level and do not rename it."
            )


def target_names(handler: Handler[Any]) -> tuple[str, ...]:
    """Return the names of the handlers that *handler* declares to send to."""
    return tuple(target if isinstance(target, str) else target.name for target in handler.options.sends_to)
