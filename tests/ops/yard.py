"""A depot in memory with dead letters in its queues, and movers that can be killed and started again."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from surehand import Handler, entrypoint
from surehand.declare import dead_letter_queue_name, max_receive_count, queue_name
from surehand.ledger import Ledger
from surehand.sending import outgoing
from surehand.testing import MemoryLedger, world
from surehand.worker import Ports
from surehand_cli.dlq import journal as journals
from surehand_cli.dlq.breaker import Breaker
from surehand_cli.dlq.destination import ToQueue
from surehand_cli.dlq.execute import Ending, Run, Watching
from surehand_cli.dlq.identify import identify
from surehand_cli.dlq.known import join
from surehand_cli.dlq.letter import received
from surehand_cli.dlq.moving import Mover
from surehand_cli.dlq.pace import Bucket
from surehand_cli.dlq.plan import Plan, planned
from surehand_cli.dlq.progress import Progress
from surehand_cli.dlq.record import Record
from tests.ops.depot import DEPOT, STATE, Parcel
from tests.ops.fake_sqs import Died, FakeQueue, FakeSQS, FakeWaiting


@dataclass
class Yard:
    """One handler's queue and dead-letter queue, the ledger, and a consumer that runs whenever somebody waits."""

    handler: Handler[Parcel]
    waiting: FakeWaiting
    sqs: FakeSQS
    ledger: MemoryLedger
    source: FakeQueue
    dead: FakeQueue
    ports: Ports
    paused: bool = False

    def consume(self) -> None:
        """Deliver everything that is visible, once; SQS moves what has been received too often."""
        if self.paused:
            return
        with entrypoint.bound(self.ports):
            size = self.handler.options.batch_size
            while messages := self.sqs.take(self.source, visibility=timedelta(seconds=60), most=size):
                event = {"Records": [self._record(one) for one in messages]}
                kept = {entry["itemIdentifier"] for entry in self.handler(event, None)["batchItemFailures"]}
                gone = {one.id for one in messages} - kept
                self.source.messages = [one for one in self.source.messages if one.id not in gone]

    def bury(self, *parcels: Parcel) -> None:
        """Send parcels and let them fail (as `STATE.act` says) until all of them are dead letters."""
        for parcel in parcels:
            message = outgoing(self.handler, parcel)
            entry: dict[str, Any] = {}
            if message.group is not None:
                entry["MessageGroupId"] = message.group
            if message.deduplication is not None:
                entry["MessageDeduplicationId"] = message.deduplication
            self.sqs.put(self.source, message.body, **entry)
        for _ in range(5_000):
            self.waiting.wait(timedelta(seconds=30))
            self.consume()
            if not self.source.messages:
                return
        raise AssertionError("the letters did not die")

    def drain(self) -> None:
        """Let the consumer come to its end."""
        for _ in range(100):
            self.waiting.wait(timedelta(seconds=30))
            self.consume()
            if not self.source.messages:
                return

    def operations(self, queue: FakeQueue) -> Counter[str]:
        """Count the messages of a queue by operation."""
        return Counter(json.loads(one.body)["number"] for one in queue.messages)

    def _record(self, one: Any) -> dict[str, Any]:
        return {
            "messageId": one.id,
            "receiptHandle": one.handle,
            "body": one.body,
            "attributes": {**one.system, "ApproximateReceiveCount": str(one.receives)},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
        }


@contextmanager
def yard(handler: Handler[Parcel]) -> Iterator[Yard]:
    """A yard for one handler."""
    STATE.reset()
    waiting = FakeWaiting()
    sqs = FakeSQS(waiting)
    dead = sqs.create(dead_letter_queue_name("depot", "test", handler))
    policy = {"deadLetterTargetArn": dead.attributes["QueueArn"], "maxReceiveCount": max_receive_count(handler)}
    source = sqs.create(queue_name("depot", "test", handler), RedrivePolicy=json.dumps(policy))
    with world(DEPOT) as depot:
        assert isinstance(depot.ledger, MemoryLedger)
        ports = dataclasses.replace(entrypoint.ports_of(handler), clock=waiting)
        made = Yard(handler, waiting, sqs, depot.ledger, source, dead, ports)
        waiting.meanwhile = made.consume
        yield made


class MortalLedger:
    """The ledger as the mover reads it: it dies with the mover's client."""

    def __init__(self, ledger: Ledger, sqs: FakeSQS) -> None:
        self._ledger, self._sqs = ledger, sqs

    def read(self, ids: Sequence[str]) -> Any:
        end = self._sqs._call("ledger")
        answer = self._ledger.read(ids)
        end()
        return answer

    def write(self, writes: Any, *, now: Any) -> Any:
        return self._ledger.write(writes, now=now)


class MortalJournal(journals.Journal):
    """A journal that a dead process does not write, and before or after whose writes it can die."""

    sqs: FakeSQS

    def write(self, kind: str, at: Any, **said: Any) -> Any:
        end = self.sqs._call(f"journal {kind}")
        entry = super().write(kind, at, **said)
        end()
        return entry


@dataclass
class Attempt:
    """One process that runs a plan, or goes on with it."""

    yard: Yard
    plan: Plan
    folder: Path
    rate: float = 500.0
    patience: timedelta | None = timedelta(seconds=300)
    breaker: Breaker = field(default_factory=Breaker)
    brake: Callable[[], str | None] = lambda: None

    def run(self, *, die_at: int | None = None, after: bool = False) -> tuple[Ending | None, Progress]:
        """Run to the end or to death (None), and return the progress as the journal has it."""
        yard, sqs = self.yard, self.yard.sqs
        sqs.calls, sqs.die_at, sqs.after, sqs.dead = [], die_at, after, False
        path = self.folder / "journal.jsonl"
        before = journals.read(path) if path.exists() else None
        ending = None
        journal = MortalJournal(path, after=before)
        journal.sqs = sqs
        try:
            progress = Progress.of(self.plan, before.entries if before is not None else ())
            record = Record(journal, progress, yard.waiting)
            record.write("begin" if before is None else "resume", plan=self.plan.digest, actor="tester", reason="test")
            ending, _ = self._execute(record)
        except Died:
            pass
        finally:
            journal.close()
            sqs.die_at, sqs.dead = None, False
        return ending, Progress.of(self.plan, journals.read(path).entries)

    def _execute(self, record: Record) -> tuple[Ending, str | None]:
        yard = self.yard
        (arn,) = self.plan.destinations
        destination = ToQueue(yard.sqs, self.plan.destinations[arn], fifo=self.plan.fifo, run=self.plan.digest)
        mover = Mover(
            yard.sqs,
            yard.dead.url,
            fifo=self.plan.fifo,
            depth=len(yard.dead.messages),
            destinations={arn: destination},
            record=record,
            bucket=Bucket.full(self.rate, burst=10, now=yard.waiting.now()),
            breaker=self.breaker,
            waiting=yard.waiting,
        )
        run = Run(
            mover,
            record,
            ledger=MortalLedger(yard.ledger, yard.sqs),
            breaker=self.breaker,
            watching=Watching(patience=self.patience, brake=self.brake),
            waiting=yard.waiting,
        )
        return run.execute()


def plan_of(yard: Yard, *, which: Callable[[Any], bool] = lambda known: True) -> Plan:
    """Plan a redrive of the letters in the dead-letter queue that fit."""
    letters = [received(yard.sqs._wire(one, {"MessageSystemAttributeNames": ["All"]})) for one in yard.dead.messages]
    known = join([(one, identify(one, yard.handler)) for one in letters], yard.ledger, now=yard.waiting.now())
    to = yard.source.attributes["QueueArn"]
    return Plan(
        action="redrive",
        stage="test",
        service="depot",
        queue=yard.dead.attributes["QueueArn"],
        url=yard.dead.url,
        destinations={to: yard.source.url},
        selector={"all": True},
        options={},
        actor="tester",
        created_at=yard.waiting.now().isoformat(),
        expires_at=(yard.waiting.now() + timedelta(hours=24)).isoformat(),
        snapshot={},
        letters=tuple(planned(one, to=to) for one in known if which(one)),
    )


@dataclass(frozen=True)
class Saved:
    """A yard's whole state, to start many runs from."""

    queues: FakeSQS
    items: dict[str, Any]
    at: Any

    @classmethod
    def of(cls, yard: Yard) -> Saved:
        return cls(yard.sqs.copy(), dict(yard.ledger.items), yard.waiting.at)

    def restore(self, yard: Yard) -> None:
        yard.waiting.at = self.at
        yard.ledger.items = dict(self.items)
        for url, queue in self.queues.copy().queues.items():
            yard.sqs.queues[url] = queue
        yard.source = yard.sqs.queues[yard.source.url]
        yard.dead = yard.sqs.queues[yard.dead.url]
