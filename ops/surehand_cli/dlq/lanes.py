"""Letters in flight with a run, in lanes: one lane for each FIFO group, one for each letter of a standard queue.

Only the head of a lane may move. So a group keeps its order, whatever is not meant blocks what is behind it, and what
SQS refused stops its group.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from surehand_cli.dlq.scan import Received

#: A handle is not used any more so shortly before its visibility ends.
MARGIN = timedelta(seconds=5)
#: Letters that are kept whole in memory; beyond that only their handles are.
ROOM = 500


class Lanes:
    """What is held. Standard letters that are not meant are held by their handles only, to be released at the end."""

    def __init__(self, *, fifo: bool, room: int = ROOM) -> None:
        self._fifo = fifo
        self._room = room
        self._lanes: dict[str, deque[Received]] = {}
        self._stopped: set[str] = set()
        self._handles: dict[str, tuple[str, datetime]] = {}
        self._dropped: set[str] = set()

    @property
    def held(self) -> int:
        """How many messages are in flight with us, at most."""
        return len(self._handles) + sum(len(lane) for lane in self._lanes.values())

    @property
    def dropped(self) -> bool:
        """Whether letters that are meant were let go for want of room, and there is room now."""
        return bool(self._dropped) and len(self._lanes) < self._room // 2

    @property
    def ids(self) -> set[str]:
        """The ids of the letters that are held whole."""
        return {one.letter.message_id for lane in self._lanes.values() for one in lane}

    @property
    def size(self) -> int:
        """How many lanes there are; on a standard queue, how many letters are held whole."""
        return len(self._lanes)

    def add(self, received: Received, *, meant: bool) -> bool:
        """Take a letter that was just received and say whether it is held whole. Its older handle is void."""
        letter = received.letter
        self._handles.pop(letter.message_id, None)
        lane = self._lane(received)
        whole = self._fifo or (meant and (lane in self._lanes or len(self._lanes) < self._room))
        if not whole:
            self._handles[letter.message_id] = (received.handle, received.until)
            if meant:
                self._dropped.add(letter.message_id)
            return False
        kept = deque(one for one in self._lanes.get(lane, ()) if one.letter.message_id != letter.message_id)
        kept.append(received)
        self._lanes[lane] = kept
        return True

    def heads(self, wanted: Callable[[Received], bool], *, most: int, now: datetime) -> list[Received]:
        """Return up to *most* lane heads that are wanted and whose handles are good."""
        self._expire(now)
        found = []
        for lane, queue in self._lanes.items():
            if lane not in self._stopped and queue and wanted(queue[0]):
                found.append(queue[0])
                if len(found) == most:
                    break
        return found

    def done(self, received: Received) -> None:
        """Forget a letter that has left its queue."""
        lane = self._lane(received)
        queue = self._lanes.get(lane)
        if queue and queue[0].letter.message_id == received.letter.message_id:
            queue.popleft()
        if not queue:
            self._lanes.pop(lane, None)

    def refuse(self, received: Received) -> None:
        """A letter did not go: on FIFO its group stops; elsewhere it is only held until the end."""
        if self._fifo:
            self._stopped.add(self._lane(received))
            return
        self._lanes.pop(self._lane(received), None)
        self._handles[received.letter.message_id] = (received.handle, received.until)

    def ageing(self, now: datetime, *, within: timedelta) -> list[Received]:
        """Return the letters held whole whose visibility ends within so long."""
        return [one for lane in self._lanes.values() for one in lane if now + MARGIN <= one.until <= now + within]

    def renewed(self, received: Received, until: datetime) -> None:
        """Note that a letter's visibility now ends later."""
        lane = self._lanes.get(self._lane(received))
        if lane is not None:
            for index, one in enumerate(lane):
                if one.letter.message_id == received.letter.message_id:
                    lane[index] = Received(one.letter, one.handle, until)

    def let_go_of_dropped(self, now: datetime) -> list[str]:
        """Return the handles of letters that were dropped and are to be released so that they come again."""
        handles = [self._handles.pop(one)[0] for one in self._dropped if one in self._handles]
        self._dropped.clear()
        self._expire(now)
        return handles

    def let_go(self, now: datetime) -> Iterator[str]:
        """Forget everything and yield the handles of what is still hidden by us."""
        self._expire(now)
        for lane in self._lanes.values():
            yield from (one.handle for one in lane)
        self._lanes.clear()
        for handle, until in self._handles.values():
            if until > now:
                yield handle
        self._handles.clear()
        self._dropped.clear()

    def _expire(self, now: datetime) -> None:
        """Drop lanes whose head's handle is void: others may have it, and what is behind must not overtake it."""
        void = [lane for lane, queue in self._lanes.items() if queue and queue[0].until - MARGIN < now]
        for lane in void:
            del self._lanes[lane]

    def _lane(self, received: Received) -> str:
        letter = received.letter
        return (letter.group or "") if self._fifo else letter.message_id
