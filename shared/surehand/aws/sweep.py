"""The sweep on DynamoDB: reads the ledger page by page over many runs, and finds what is stuck. It changes nothing.

Its position is kept in one item of the ledger's table, which is the only one that it writes (its role allows no other).
A run that is repeated, or beside another one, reads something twice and no more.

A sparse index of leased items would find the same without a scan, for two more write units per message on the way that
every message goes; the scan costs the happy path nothing (`surehand.declare.sweeping` computes what it costs).

Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html (pages of at most 1 MB,
`LastEvaluatedKey`; a filter is applied after the read).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.config import Config

from surehand.aws.clients import AWS_ERRORS, LEDGER, reason
from surehand.aws.dynamodb import DynamoDBLedger
from surehand.aws.items import PART, decode, key_of, milliseconds
from surehand.declare.sweeping import PAGE_EVERY, POSITION, SWEEP, Task
from surehand.errors import LedgerUnavailable
from surehand.ledger import Operation
from surehand.ledger.stuck import UNSETTLED, Stuck, stuck
from surehand.queues import Clock

#: A page takes longer than a claim, and nobody waits for it.
PATIENT: Config = LEDGER.merge(Config(read_timeout=8.0, retries={"total_max_attempts": 4, "mode": "standard"}))
#: Sort key of the position: none of the parts that operations have.
POSITION_PART = SWEEP
#: How many stuck operations are remembered from run to run, and looked at in each: one BatchGetItem.
KNOWN = 100
#: How many a run holds in memory; the others are counted.
HELD_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One way through the whole table so far: when it began, and the items and read units that it took."""

    began_at: datetime
    items: int = 0
    units: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where the sweep stands between two runs. *after* is the last item read (id, part), None at a pass's beginning.

    *run* counts the writes, so that of two runs at once only one is kept; None if nothing legible was there.
    """

    under_way: Pass
    run: int | None = None
    after: tuple[str, str] | None = None
    known: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Report:
    """What one run found. *finished* is the pass that it brought to its end, *cut_short* why it ended early.

    *stuck* is by operation, *more* counts those beyond what it holds by handler.
    """

    stuck: dict[str, Stuck] = field(default_factory=dict)
    more: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    pages: int = 0
    items: int = 0
    units: float = 0.0
    finished: Pass | None = None
    cut_short: str | None = None
    overtaken: bool = False

    def by_handler(self, task: Task) -> dict[str, int]:
        """Return the gauge: how many operations of each handler are stuck, 0 included."""
        counted = self.more + Counter(one.operation.handler for one in self.stuck.values())
        return {name: counted[name] for name in task.patience}

    def judged(self, operation: Operation, one: Stuck | None) -> None:
        """Take note of an operation that is stuck; *one* is None if it is not."""
        if one is None:
            return
        if operation.id in self.stuck or len(self.stuck) < HELD_AT_ONCE:
            self.stuck[operation.id] = one
        else:
            self.more[operation.handler] += 1


class Sweep:
    """Sweeps one ledger table. *wait* is `time.sleep` for lengths; *items_of_page* bounds a page beside its 1 MB."""

    def __init__(
        self, client: Any, table: str, *, clock: Clock, wait: Callable[[timedelta], None], items_of_page: int = 4_000
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._wait = wait
        self._items_of_page = items_of_page
        self._ledger = DynamoDBLedger(client, table, batched=False)

    def run(self, task: Task, *, until: datetime) -> Report:
        """Look again at what was stuck, read on from where the last run stopped, and keep the new position.

        Reads at most `task.megabytes` pages, begins none after *until*, and ends with the table's last page.

        Raises:
            LedgerUnavailable: The position, or what is known to be stuck, could not be read, or not a single page, or
                the position could not be kept. Nothing is told then, and the missing gauge is an alarm.
        """
        report = Report()
        before = self._position()
        for operation in self._ledger.read(before.known).values():
            report.judged(operation, stuck(operation, task.patience, now=self._clock.now()))
        after = before.after
        for answer in self._pages(task, after, until, report):
            self._look_at(answer, task, report)
            after = _place(answer.get("LastEvaluatedKey"))
        self._keep(before, after, report)
        return report

    def _pages(
        self, task: Task, after: tuple[str, str] | None, until: datetime, report: Report
    ) -> Iterator[Mapping[str, Any]]:
        """Yield page after page, no faster than agreed. A page that is refused ends the run, the first one fails it."""
        while report.pages < task.megabytes:
            began = self._clock.now()
            if began >= until:
                report.cut_short = "time"
                return
            try:
                answer = self._client.scan(**self._request(after, began))
            except AWS_ERRORS as error:
                if not report.pages:
                    raise LedgerUnavailable(reason(error)) from error
                report.cut_short = reason(error)
                return
            report.pages += 1
            report.items += answer.get("ScannedCount", 0)
            report.units += answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0)
            yield answer
            after = _place(answer.get("LastEvaluatedKey"))
            if after is None:
                return
            if report.pages < task.megabytes:
                self._wait(max(timedelta(0), PAGE_EVERY - (self._clock.now() - began)))

    def _request(self, after: tuple[str, str] | None, now: datetime) -> dict[str, Any]:
        """What DynamoDB can filter does not go over the wire; it reads every item all the same.

        Eventually consistent, at half the price: a reply that is a second old makes nobody stuck.
        """
        states = {f":state{index}": {"S": state.value} for index, state in enumerate(sorted(UNSETTLED))}
        request: dict[str, Any] = {
            "TableName": self._table,
            "Limit": self._items_of_page,
            "ReturnConsumedCapacity": "TOTAL",
            "FilterExpression": f"#part = :part AND #state IN ({', '.join(states)}) AND #expires > :now",
            "ExpressionAttributeNames": {"#part": "part", "#state": "state", "#expires": "expires_at"},
            "ExpressionAttributeValues": {
                ":part": {"S": PART},
                ":now": {"N": str(int(now.timestamp()))},
                **states,
            },
        }
        return request if after is None else {**request, "ExclusiveStartKey": key_of(*after)}

    def _look_at(self, answer: Mapping[str, Any], task: Task, report: Report) -> None:
        """One item that cannot be read must not stop the sweep at the same place for ever: it is told of."""
        now = self._clock.now()
        for item in answer.get("Items", ()):
            try:
                operation = decode(item)
            except (KeyError, ValueError, TypeError):
                report.unreadable.append(item["id"]["S"])
                continue
            report.judged(operation, stuck(operation, task.patience, now=now))

    def _position(self) -> Position:
        try:
            key = key_of(POSITION, POSITION_PART)
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise LedgerUnavailable(reason(error)) from error
        return _read(answer.get("Item", {}), now=self._clock.now())

    def _keep(self, before: Position, after: tuple[str, str] | None, report: Report) -> None:
        under_way = replace(
            before.under_way,
            items=before.under_way.items + report.items,
            units=before.under_way.units + report.units,
        )
        if report.pages and after is None:
            report.finished, under_way = under_way, Pass(began_at=self._clock.now())
        known = tuple(report.stuck)[:KNOWN]
        position = Position(under_way=under_way, run=(before.run or 0) + 1, after=after, known=known)
        condition: dict[str, Any] = {}
        if before.run is not None:
            condition = {
                "ConditionExpression": "#run = :run",
                "ExpressionAttributeNames": {"#run": "run"},
                "ExpressionAttributeValues": {":run": {"N": str(before.run)}},
            }
        try:
            self._client.put_item(TableName=self._table, Item=_written(position), **condition)
        except AWS_ERRORS as error:
            if reason(error) != "ConditionalCheckFailedException":
                raise LedgerUnavailable(reason(error)) from error
            report.overtaken = True


def _place(key: Mapping[str, Any] | None) -> tuple[str, str] | None:
    return None if not key else (key["id"]["S"], key["part"]["S"])


def _written(position: Position) -> dict[str, Any]:
    item = {
        **key_of(POSITION, POSITION_PART),
        "run": {"N": str(position.run)},
        "began_at": {"N": str(milliseconds(position.under_way.began_at))},
        "items": {"N": str(position.under_way.items)},
        "units": {"N": str(position.under_way.units)},
        "known": {"L": [{"S": one} for one in position.known]},
    }
    return item if position.after is None else {**item, "after": {"S": json.dumps(position.after)}}


def _read(item: Mapping[str, Any], *, now: datetime) -> Position:
    """Return the position, or a fresh one where there is none that this version can read: the sweep starts anew."""
    try:
        after: Sequence[str] = json.loads(item["after"]["S"]) if "after" in item else ()
        return Position(
            under_way=Pass(
                began_at=datetime.fromtimestamp(int(item["began_at"]["N"]) / 1000, UTC),
                items=int(item["items"]["N"]),
                units=float(item["units"]["N"]),
            ),
            run=int(item["run"]["N"]),
            after=(str(after[0]), str(after[1])) if after else None,
            known=tuple(one["S"] for one in item["known"]["L"]),
        )
    except (KeyError, ValueError, TypeError, IndexError):
        return Position(under_way=Pass(began_at=now))
