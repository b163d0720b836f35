"""Moving letters: receive, journal, send, delete only what was accepted, journal.

A crash between send and delete leaves a letter in both queues: its copy is a duplicate that the ledger absorbs, and
the next run of the same plan only deletes it. Nothing is ever deleted that was not accepted first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.breaker import Breaker
from surehand_cli.dlq.destination import Destinations, Sent
from surehand_cli.dlq.lanes import Lanes
from surehand_cli.dlq.pace import Bucket
from surehand_cli.dlq.progress import DONE, Mail, Step
from surehand_cli.dlq.record import Record
from surehand_cli.dlq.scan import MOST_IN_FLIGHT, Received, Scan, count, extend, hiding, release

#: Letters in one call of SQS.
CALL = 10
_TRIES = 3
_NAP = timedelta(seconds=5)
#: What a run that is killed had in flight comes back within this time.
_LONGEST = timedelta(minutes=10)


class Mover:
    """Moves the letters of one plan out of one dead-letter queue."""

    def __init__(
        self,
        client: Any,
        url: str,
        *,
        fifo: bool,
        depth: int,
        destinations: Destinations,
        record: Record,
        bucket: Bucket,
        breaker: Breaker,
        waiting: Waiting,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._url = url
        self._visibility = hiding(depth, longest=_LONGEST)
        self._destinations = destinations
        self._record = record
        self._bucket = bucket
        self._breaker = breaker
        self._waiting = waiting
        self._tell = tell
        self._fifo = fifo
        self._lanes = Lanes(fifo=fifo)
        self._scan = Scan(client, url, depth=depth, waiting=waiting, longest=_LONGEST)
        self._patience_until = waiting.now() + _LONGEST
        self._known: set[str] = set()
        self._repeats = 0
        self.exhausted = False

    def move(self, quota: int, *, wanted: Callable[[Mail], bool] = lambda _: True, canary: bool = False) -> int:
        """Move up to *quota* letters that are wanted and return how many were; fewer mean that no more were found.

        Raises:
            ClientError, BotoCoreError: SQS refused or could not be reached; the journal says how far it came.
        """
        moved = 0
        while moved < quota and not self._waiting.stopped and self._breaker.open is None:
            batch = self._lanes.heads(
                lambda one: self._eligible(one, wanted), most=min(CALL, quota - moved), now=self._waiting.now()
            )
            if batch:
                moved += self._move(batch, canary=canary)
            elif not self._more():
                break
        return moved

    @property
    def blocked(self) -> bool:
        """Whether FIFO groups wait behind letters that are not meant or were refused."""
        return self._fifo and self._lanes.size > 0

    def renew(self) -> None:
        """Keep what is held hidden for another while, if its time is short.

        Raises:
            ClientError, BotoCoreError: SQS refused or could not be reached.
        """
        now = self._waiting.now()
        ageing = self._lanes.ageing(now, within=self._visibility / 3)
        if not ageing:
            return
        lost = set(extend(self._client, self._url, ageing, self._visibility))
        for one in ageing:
            if one.letter.message_id not in lost:
                self._lanes.renewed(one, now + self._visibility)

    def release(self) -> None:
        """Show everything that is held to others again. What cannot be released comes back by itself.

        Raises:
            ClientError, BotoCoreError: SQS refused or could not be reached.
        """
        release(self._client, self._url, self._lanes.let_go(self._waiting.now()))

    def _eligible(self, one: Received, wanted: Callable[[Mail], bool]) -> bool:
        mail = self._record.progress.mail.get(one.letter.message_id)
        if mail is None or mail.step in (Step.REFUSED, Step.GONE):
            return False
        return mail.step in (Step.SENT, Step.DELETED) or wanted(mail)

    def _more(self) -> bool:
        """Receive something that we have not in our lanes; False when there is nothing more to find."""
        empties = 0
        while not self._waiting.stopped:
            self.renew()
            if not self._missing() or self._lanes.held >= MOST_IN_FLIGHT:
                return False
            batch = self._scan.receive()
            if batch:
                return self._take(batch)
            if self._lanes.dropped:
                release(self._client, self._url, self._lanes.let_go_of_dropped(self._waiting.now()))
                continue
            empties += 1
            if not self._worth_waiting(empties):
                return False
        return False

    def _take(self, batch: Sequence[Received]) -> bool:
        mail = self._record.progress.mail
        new = False
        for one in batch:
            letter = one.letter
            meant = letter.message_id in mail and mail[letter.message_id].step is not Step.REFUSED
            if meant and mail[letter.message_id].planned.sha256 != letter.sha256:
                self._record.write("refused", ids={letter.message_id: "its body is not the planned one"})
                meant = False
            whole = self._lanes.add(one, meant=meant)
            new = new or (letter.message_id not in self._known if self._fifo else whole)
            if self._fifo:
                self._known.add(letter.message_id)
        self._repeats = 0 if new else self._repeats + 1
        if self._repeats > max(_TRIES, self._lanes.held // CALL + 1):
            self.exhausted = True
            return False
        return True

    def _missing(self) -> int:
        """Return how many letters that are still to be moved are not held."""
        progress = self._record.progress
        if self._fifo:
            return len(progress.open - self._lanes.ids)
        return len(progress.open) - self._lanes.size

    def _worth_waiting(self, empties: int) -> bool:
        """Tell whether to ask once more after so many empty answers.

        What is in flight elsewhere (with a run that died, or somebody who looks) may be what is missing: it is waited
        for, and when it does not come, nobody knows where it is.
        """
        if self._in_flight() > self._lanes.held:
            if self._waiting.now() >= self._patience_until:
                return False
            if empties == 1:
                self._tell("waiting for letters that are in flight elsewhere, with a run that was killed perhaps")
            self._waiting.wait(_NAP)
            return True
        if empties < _TRIES and self._visible() > 0:
            return True
        self.exhausted = True
        return False

    def _in_flight(self) -> int:
        return count(self._client, self._url, "ApproximateNumberOfMessagesNotVisible")

    def _visible(self) -> int:
        return count(self._client, self._url, "ApproximateNumberOfMessages")

    def _move(self, batch: Sequence[Received], *, canary: bool) -> int:
        mail = self._record.progress.mail
        fresh = [one for one in batch if mail[one.letter.message_id].step in (Step.PLANNED, Step.SENDING)]
        accepted = [one for one in batch if one not in fresh]
        moved = 0
        if fresh:
            now = self._waiting.now()
            if (pause := self._bucket.wait_for(len(fresh), now)) > timedelta(0):
                self._waiting.wait(pause)
                return 0 if self._waiting.stopped else moved
            self._bucket.take(len(fresh), now)
            sent = self._send(fresh, canary=canary)
            moved = len(sent.moves)
            accepted += [one for one in fresh if one.letter.message_id in sent.moves]
            for one in fresh:
                if one.letter.message_id in sent.refused:
                    self._lanes.refuse(one)
        self._delete(accepted)
        return moved

    def _send(self, batch: Sequence[Received], *, canary: bool) -> Sent:
        mail = self._record.progress.mail
        ids = [one.letter.message_id for one in batch]
        self._record.write("sending", ids=ids, **({"canary": True} if canary else {}))
        done = Sent()
        for to in dict.fromkeys(mail[one].planned.to for one in ids):
            letters = [one.letter for one in batch if mail[one.letter.message_id].planned.to == to]
            part = self._destinations[to].send(letters)
            done.moves |= part.moves
            done.refused |= part.refused
            if part.moves:
                self._record.write("sent", moves=part.moves)
        if done.refused:
            self._record.write("refused", ids=done.refused)
        for one in ids:
            self._breaker.send(refused=one in done.refused)
        return done

    def _delete(self, accepted: Sequence[Received]) -> None:
        """Delete what the destination has. What cannot be deleted stays "sent": the next pass deletes it."""
        left = {str(index): one for index, one in enumerate(accepted)}
        gone: list[str] = []
        for _ in range(_TRIES):
            if not left:
                break
            entries = [{"Id": entry, "ReceiptHandle": one.handle} for entry, one in left.items()]
            answer = self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)
            failed = {one["Id"] for one in answer.get("Failed", ())}
            gone += [one.letter.message_id for entry, one in left.items() if entry not in failed]
            left = {entry: one for entry, one in left.items() if entry in failed}
        newly = [one for one in gone if self._record.progress.mail[one].step not in DONE]
        if newly:
            self._record.write("deleted", ids=newly)
        for one in accepted:
            self._lanes.done(one)
