"""How long a batch waits for the large bodies of its webhooks: the other messages need time, too."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from surehand.queues import Clock
from surehand.worker.conclusion import SoftDeadline
from surehand.worker.deadline import interrupted_after

if TYPE_CHECKING:
    from surehand.webhooks.ports import Stored
    from surehand.webhooks.unwrap import Fetch

#: A fetch that fails after this long has waited for storage that does not answer. A quick failure is its own body's.
_SLOW = timedelta(seconds=1)


class NotFetched(Exception):
    """The body was not asked for, or not to the end: there was no more time for it in this invocation."""


class Patient:
    """Fetches until a moment, or until one fetch has failed slowly; whatever is asked for then is away at once.

    In the main thread a fetch that goes on beyond that moment is interrupted.
    """

    def __init__(self, fetch: Fetch, *, clock: Clock, until: datetime) -> None:
        self._fetch = fetch
        self._clock = clock
        self._until = until
        self._over = False

    def __call__(self, where: Stored) -> bytes:
        """Return a stored body.

        Raises:
            NotFetched: The batch's time for bodies is over.
            Exception: Whatever *fetch* raises.
        """
        began = self._clock.now()
        if self._over or began >= self._until:
            raise NotFetched
        try:
            with interrupted_after(self._until - began):
                return self._fetch(where)
        except SoftDeadline:
            raise NotFetched from None
        except Exception:
            self._over = self._clock.now() - began >= _SLOW
            raise
