"""Holds handlers to their `sends_to`, as a deployment does by what it tells a function and lets it do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from surehand import entrypoint
from surehand.declare import Handler, target_names
from surehand.errors import ConfigurationError
from surehand.worker.context import current


@contextmanager
def held_to_sends_to(handlers: Sequence[Handler[Any]]) -> Iterator[None]:
    """Let none of *handlers* send, while it handles a message, to what it has not declared. Tests may send anywhere."""
    declared = {handler.name: {handler.name, *target_names(handler)} for handler in handlers}
    send = entrypoint.send

    def checked(handler: Handler[Any], payloads: tuple[Any, ...], delay: timedelta) -> None:
        sender = current().get("handler")
        if sender in declared and handler.name not in declared[sender]:
            raise ConfigurationError(
                f"Handler '{sender}' sends to '{handler.name}' and does not declare it. Add "
                f"sends_to=['{handler.name}'] to '{sender}': deployed it would neither know the queue nor be allowed "
                "to send."
            )
        send(handler, payloads, delay)

    with patch.object(entrypoint, "send", checked):
        yield
