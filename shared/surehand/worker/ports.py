"""What an invocation is given: its outer world and what is known of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from surehand.ledger import Cursors, Ledger
from surehand.queues import Clock, Queues
from surehand.worker.loop import EventLoop

if TYPE_CHECKING:
    from surehand.declare import Handler
    from surehand.webhooks.unwrap import Fetch
    from surehand.worker.endings import Ending


class Teller(Protocol):
    """Writes down what became of a batch: log lines and metrics."""

    def tell(self, handler: Handler[Any], endings: Sequence[Ending], *, now: datetime) -> None:
        """Tell one batch. Called once per invocation, after everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The outer world of an invocation.

    *retention* is how long the ledger knows an operation; *group_commit* settles in a thread of its own (not on FIFO,
    where the next message waits for a durable outcome anyway); *loop* runs the coroutines of async handlers; *fetch*
    returns the large bodies of webhooks.
    """

    ledger: Ledger
    cursors: Cursors
    queues: Queues
    clock: Clock
    random: Random
    teller: Teller
    loop: EventLoop
    retention: timedelta
    version: str = ""
    group_commit: bool = True
    fetch: Fetch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call by Lambda. *owner* is unique to it: request id and nonce."""

    owner: str
    deadline: datetime
