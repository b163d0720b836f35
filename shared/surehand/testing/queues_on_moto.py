"""Queues on moto for events that were made up: their receipt handles are known to no queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from surehand.errors import Refused
from surehand.queues import Visibility
from surehand.testing.events import is_made_up

_Call = Callable[[Any, str, Sequence[Any]], Sequence[Refused]]


@contextmanager
def made_up_handles_accepted() -> Iterator[None]:
    """Let SQS be asked about genuine messages only, as a test that received them itself has."""
    from surehand.aws.queues import SQSQueues

    hide = _genuine_only(SQSQueues.set_visibility, lambda change: str(change.receipt_handle))
    delete = _genuine_only(SQSQueues.delete, str)
    with patch.object(SQSQueues, "set_visibility", hide), patch.object(SQSQueues, "delete", delete):
        yield


def _genuine_only(call: _Call, handle_of: Callable[[Any], str]) -> _Call:
    def asked(queues: Any, handler: str, entries: Sequence[Visibility | str]) -> Sequence[Refused]:
        genuine = [(index, one) for index, one in enumerate(entries) if not is_made_up(handle_of(one))]
        refused = call(queues, handler, [one for _, one in genuine]) if genuine else ()
        return [Refused(genuine[one.index][0], one.code) for one in refused]

    return asked
