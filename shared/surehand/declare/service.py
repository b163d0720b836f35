"""A named list of handlers: what infra, command line and tests read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from surehand.declare.derived_names import check_derived_names
from surehand.declare.handler import Handler
from surehand.declare.options import check_name
from surehand.declare.several import several
from surehand.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class Service:
    """One deployable set of handlers.

    Raises:
        DeclarationError: Two handlers have or lead to one name, a handler is no attribute of its module (Lambda could
            not find it), or a handler sends to one that is not in the service.
    """

    name: str
    handlers: tuple[Handler[Any], ...]

    def __init__(self, name: str, handlers: Sequence[Handler[Any]]) -> None:
        object.__setattr__(self, "name", name)
        check_name(name, "Service")
        object.__setattr__(self, "handlers", _listed(name, handlers))
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
        check_derived_names(name, self.handlers)
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


def _listed(name: str, handlers: object) -> tuple[Any, ...]:
    if isinstance(handlers, Handler):
        raise DeclarationError(
            f"Service '{name}': handlers={handlers!r} is one handler, but it takes several. In Python (a) is a, and "
            f"(a,) is a tuple: write Service({name!r}, ({handlers.__name__},))."
        )
    found = several(handlers, "handlers", of=f"Service '{name}'")
    if not found:
        raise DeclarationError(f"Service '{name}' has no handlers. Name at least one: Service({name!r}, (charge,)).")
    return found


def target_names(handler: Handler[Any]) -> tuple[str, ...]:
    """Return the names of the handlers that *handler* declares to send to."""
    return tuple(target if isinstance(target, str) else target.name for target in handler.options.sends_to)
