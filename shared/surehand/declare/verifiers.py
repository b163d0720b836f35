"""Where a scheme with a verifier of its own stands in Python, so that the ingress can import it by that place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from surehand.declare.handler import Handler
from surehand.errors import DeclarationError
from surehand.webhooks.scheme import Scheme


def places_of(handlers: Iterable[Handler[Any]]) -> Mapping[str, str]:
    """Return `module:NAME` by scheme name, for the schemes of *handlers* that have a verifier.

    A module of its own is better than the handler's, since the ingress imports what else is in it.

    Raises:
        DeclarationError: A scheme is no attribute of a module in the handler's package.
    """
    places: dict[str, str] = {}
    for handler in handlers:
        receiving = handler.options.webhook
        if receiving is not None and receiving.scheme.verifier is not None:
            places[receiving.scheme.name] = _place(receiving.scheme, handler)
    return places


def _place(scheme: Scheme, handler: Handler[Any]) -> str:
    package = handler.__module__.partition(".")[0]
    found = [
        f"{module}:{name}"
        for module in sorted(sys.modules)
        if module.partition(".")[0] in (package, "surehand")
        for name, value in vars(sys.modules[module]).items()
        if value is scheme
    ]
    if not found:
        raise DeclarationError(
            f"Handler '{handler.name}': its scheme '{scheme.name}' has a verifier, so it must be an attribute of a "
            f"module of '{package}': the ingress finds it there."
        )
    elsewhere = [place for place in found if not place.startswith(f"{handler.__module__}:")]
    return (elsewhere or found)[0]
