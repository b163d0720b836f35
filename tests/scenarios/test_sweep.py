"""What the sweep finds, how it goes on from run to run, and that it changes no operation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.session import get_session

from surehand import entrypoint
from surehand.aws import sweep as sweep_on_aws
from surehand.aws import sweep_telling
from surehand.aws.items import decode, encode, key_of
from surehand.aws.sweep import Report, Sweep
from surehand.aws.sweep_telling import lines
from surehand.declare import operation_id, slot_id, visibility_timeout
from surehand.declare.sweeping import PAGE_EVERY, POSITION, Task, cost, patience
from surehand.errors import ConfigurationError, LedgerUnavailable
from surehand.ledger import Entry, Operation, slots
from surehand.ledger.stuck import Kind, stuck
from surehand.states import State
from surehand.testing import FakeClock, World, world
from tests.architecture.source_tree import ROOT
from tests.scenarios.kiosk import KIOSK, Ticket, careful, lanes, plain, script, tenants

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TABLE = "kiosk-test-ledger"
TASK = Task.of(KIOSK.handlers)
LATE = 2 * visibility_timeout(plain) + timedelta(hours=1)
MOMENT = timedelta(seconds=1)


def standing(state: State, number: str = "1", handler: str = "plain", **fields: Any) -> Operation:
    """Return an operation that was claimed at noon."""
    return Operation(
        **{
            "id": operation_id(handler, None, [number]),
            "handler": handler,
            "tenant": None,
            "state": state,
            "fence": 1,
            "owner": "request/1",
            "claimed_at": NOW,
            "started_at": NOW,
            "expires_at": NOW + timedelta(days=30),
            "message_ids": (f"m-{number}",),
            **fields,
        }
    )


def leased(number: str = "1", **fields: Any) -> Operation:
    return standing(State.LEASED, number, **{"lease_until": NOW, **fields})


def judged(operation: Operation, *, after: timedelta) -> Kind | None:
    found = stuck(operation, TASK.patience, now=NOW + after)
    return None if found is None else found.kind


class TestStuck:
    @pytest.mark.parametrize("state", [State.LEASED, State.PROCESSING])
    def test_a_lease_that_nobody_took_over_is_abandoned_once_its_message_should_long_be_back(
        self, state: State
    ) -> None:
        operation = standing(state, lease_until=NOW)
        assert judged(operation, after=LATE) is None
        assert judged(operation, after=LATE + MOMENT) is Kind.ABANDONED

    @pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED])
    def test_what_waits_is_overdue_long_after_its_moment(self, state: State) -> None:
        operation = standing(state, not_before=NOW + timedelta(hours=6))
        assert judged(operation, after=timedelta(hours=6) + LATE) is None
        assert judged(operation, after=timedelta(hours=6) + LATE + MOMENT) is Kind.OVERDUE

    def test_what_waits_without_a_moment_is_due_since_its_last_change(self) -> None:
        assert judged(standing(State.PENDING), after=LATE + MOMENT) is Kind.OVERDUE

    def test_what_waits_without_a_moment_is_not_due_before_the_last_line_of_its_history(self) -> None:
        changes = [NOW, NOW + timedelta(minutes=1), NOW + timedelta(hours=1)]
        history = tuple(Entry(state=State.PENDING, at=at, fence=1, attempt=1) for at in changes)
        waiting = standing(State.PENDING, history=history)
        assert judged(waiting, after=timedelta(hours=1) + LATE) is None
        assert judged(waiting, after=timedelta(hours=1) + LATE + MOMENT) is Kind.OVERDUE

    @pytest.mark.parametrize("state", [State.LEASED, State.PROCESSING])
    def test_a_lease_without_an_end_is_late_since_it_was_taken(self, state: State) -> None:
        assert judged(standing(state), after=LATE) is None
        assert judged(standing(state), after=LATE + MOMENT) is Kind.OVERDUE

    def test_what_waits_for_longer_than_the_queue_keeps_a_message_has_none_any_more(self) -> None:
        kept = plain.options.retention
        assert judged(standing(State.PENDING), after=kept) is Kind.OVERDUE
        assert judged(standing(State.PENDING), after=kept + MOMENT) is Kind.MESSAGE_GONE

    def test_on_fifo_what_waits_may_wait_for_an_earlier_message_of_its_group(self) -> None:
        waiting = standing(State.PENDING, handler="lanes")
        assert judged(waiting, after=LATE + lanes.options.give_up_after) is None
        assert judged(waiting, after=LATE + lanes.options.give_up_after + MOMENT) is Kind.OVERDUE

    @pytest.mark.parametrize(
        "state",
        [
            State.SUCCEEDED,
            State.CANCELED,
            State.PERMANENTLY_FAILED,
            State.DEAD_LETTERED,
            State.COMPENSATED,
        ],
    )
    def test_what_has_come_to_an_end_is_never_stuck(self, state: State) -> None:
        assert judged(standing(state, code="effect.unknown"), after=timedelta(days=29)) is None

    def test_what_the_ledger_is_about_to_forget_is_not_stuck(self) -> None:
        assert judged(leased(expires_at=NOW + timedelta(days=1)), after=timedelta(days=1)) is None

    def test_an_operation_of_another_services_handler_is_not_ours_to_judge(self) -> None:
        assert judged(leased(handler="strange"), after=timedelta(days=1)) is None

    def test_a_schedules_slot_is_no_operation(self) -> None:
        write = slots.take(
            None, slot_id("plain", "!running"), leased(), until=NOW, now=NOW, retention=timedelta(days=30)
        )
        assert judged(write.operation, after=timedelta(days=1)) is None


@dataclass
class Place:
    """A ledger on moto, and a clock. *waits* are the sweep's pauses."""

    client: Any
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW + timedelta(days=1)))
    waits: list[timedelta] = field(default_factory=list)

    def put(self, *operations: Operation) -> None:
        for operation in operations:
            self.client.put_item(TableName=TABLE, Item={**key_of(operation.id), **encode(operation)})

    def sweep(self, *, client: Any = None, page: int = 1_000, megabytes: int = 40, **options: Any) -> Report:
        sweeping = Sweep(
            client or self.client, TABLE, clock=self.clock, wait=options.get("wait", self.wait), items_of_page=page
        )
        task = replace(TASK, megabytes=megabytes)
        return sweeping.run(task, until=options.get("until", self.clock.now() + timedelta(minutes=1)))

    def wait(self, length: timedelta) -> None:
        self.waits.append(length)
        self.clock.advance(length)

    def items(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.scan(TableName=TABLE)["Items"]
        return found

    def operations(self) -> dict[str, Operation]:
        return {one["id"]["S"]: decode(one) for one in self.items() if one["part"]["S"] == "operation"}


@pytest.fixture
def made() -> Iterator[World]:
    with world(KIOSK, on="moto") as made:
        yield made


@pytest.fixture
def place(made: World) -> Place:
    return Place(get_session().create_client("dynamodb", region_name="eu-west-1"))


class Refusing:
    """A client whose calls of one name fail after the first *good* ones."""

    def __init__(self, client: Any, name: str, *, good: int = 0, code: str = "ThrottlingException") -> None:
        self._client, self._name, self._good, self._code = client, name, good, code

    def __getattr__(self, name: str) -> Any:
        if name == self._name:
            self._good -= 1
            if self._good < 0:
                return self._refuse
        return getattr(self._client, name)

    def _refuse(self, **_: Any) -> Any:
        raise ClientError({"Error": {"Code": self._code}}, self._name)


class TestRuns:
    def test_an_operation_in_a_page_is_found_with_why_and_since_when(self, place: Place) -> None:
        place.put(leased("1"), standing(State.SUCCEEDED, "2"))
        (found,) = place.sweep().stuck.values()
        assert (found.operation.id, found.kind, found.since) == (leased("1").id, Kind.ABANDONED, NOW)

    def test_a_run_reads_no_more_than_it_was_told_and_the_next_goes_on_there(self, place: Place) -> None:
        place.put(*(leased(str(index)) for index in range(10)))
        first, second, third = (place.sweep(page=2, megabytes=2) for _ in range(3))
        assert [(one.pages, one.items) for one in (first, second)] == [(2, 4), (2, 4)]
        assert len(first.stuck) == 4
        assert first.stuck.keys() < second.stuck.keys() < third.stuck.keys()
        assert len(third.stuck) == 10

    def test_the_end_of_the_table_ends_the_run_and_the_pass_and_the_next_begins_anew(self, place: Place) -> None:
        place.put(*(leased(str(index)) for index in range(5)))
        began = place.clock.now()
        assert place.sweep(page=2, megabytes=2).finished is None
        place.clock.advance(timedelta(minutes=5))
        report = place.sweep(page=2, megabytes=2)
        while report.finished is None:
            report = place.sweep(page=2, megabytes=2)
        assert report.finished.items in (5, 6)  # the operations, and the position if the scan comes by it
        assert report.finished.began_at == began
        assert place.sweep(page=2, megabytes=2).items == 4

    def test_each_pass_is_told_by_itself(self, place: Place) -> None:
        place.put(*(leased(str(index)) for index in range(5)))
        place.sweep()
        ended = place.clock.now()
        place.clock.advance(timedelta(minutes=5))
        second = place.sweep().finished
        assert second is not None
        assert (second.items, second.began_at) == (6, ended)

    def test_what_is_known_to_be_stuck_stays_counted_in_runs_that_do_not_come_by(self, place: Place) -> None:
        place.put(*(standing(State.SUCCEEDED, str(index)) for index in range(9)), leased("stuck"))
        reports = [place.sweep(page=1, megabytes=1) for _ in range(12)]
        counts = [report.by_handler(TASK)["plain"] for report in reports]
        assert counts == sorted(counts)
        assert counts[-1] == 1

    def test_what_was_settled_meanwhile_is_not_counted_in_the_very_next_run(self, place: Place) -> None:
        place.put(*(standing(State.SUCCEEDED, str(index)) for index in range(9)), leased("stuck"))
        while not place.sweep(page=1, megabytes=1).stuck:
            pass
        place.put(standing(State.SUCCEEDED, "stuck"))
        assert place.sweep(page=1, megabytes=1).by_handler(TASK)["plain"] == 0

    def test_a_run_changes_no_operation(self, place: Place) -> None:
        place.put(leased("1"), standing(State.PENDING, "2"), standing(State.SUCCEEDED, "3"))
        before = place.operations()
        assert len(place.sweep().stuck) == 2
        assert place.operations() == before

    def test_the_position_is_one_item_that_no_listing_takes_for_an_operation(self, place: Place) -> None:
        place.sweep()
        place.sweep()
        assert [(one["id"]["S"], one["part"]["S"]) for one in place.items()] == [(POSITION, "sweep")]

    def test_a_run_that_was_repeated_finds_the_same_again(self, place: Place) -> None:
        place.put(leased("1"))
        assert place.sweep().stuck == place.sweep().stuck

    def test_more_than_it_remembers_is_counted_all_the_same(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sweep_on_aws, "HELD_AT_ONCE", 3)
        monkeypatch.setattr(sweep_on_aws, "KNOWN", 2)
        place.put(*(leased(str(index)) for index in range(8)))
        for _ in range(2):
            report = place.sweep()
            assert len(report.stuck) == 3
            assert report.by_handler(TASK)["plain"] == 8
        (position,) = [one for one in place.items() if one["id"]["S"] == POSITION]
        assert len(position["known"]["L"]) == 2


class TestBounds:
    def test_pages_are_read_no_faster_than_agreed(self, place: Place) -> None:
        place.put(*(leased(str(index)) for index in range(5)))
        report = place.sweep(page=1, megabytes=3)
        assert report.pages == 3
        assert place.waits == [PAGE_EVERY] * 2

    def test_no_page_begins_when_the_time_is_up(self, place: Place) -> None:
        place.put(*(leased(str(index)) for index in range(9)))
        assert place.sweep(until=place.clock.now()).finished is None
        report = place.sweep(page=1, until=place.clock.now() + 2 * PAGE_EVERY)
        assert (report.pages, report.cut_short) == (2, "time")
        assert place.sweep(page=1, until=place.clock.now()).pages == 0
        place.sweep()
        assert len(place.sweep().stuck) == 9

    def test_a_throttled_page_ends_the_run_and_what_was_read_counts(self, place: Place) -> None:
        place.put(*(leased(str(index)) for index in range(4)))
        report = place.sweep(client=Refusing(place.client, "scan", good=1), page=2)
        assert (report.pages, len(report.stuck), report.cut_short) == (1, 2, "ThrottlingException")
        assert place.sweep(page=2).pages <= 2

    @pytest.mark.parametrize("call", ["get_item", "scan", "put_item"])
    def test_a_run_that_can_read_or_keep_nothing_fails_so_that_the_gauge_is_missing(
        self, place: Place, call: str
    ) -> None:
        place.put(leased("1"))
        with pytest.raises(LedgerUnavailable, match="AccessDenied"):
            place.sweep(client=Refusing(place.client, call, code="AccessDenied"))

    def test_of_two_runs_at_once_only_one_keeps_its_position(self, place: Place) -> None:
        place.put(*(leased(str(index)) for index in range(8)))
        place.sweep(page=1, megabytes=1)
        inner: list[Report] = []

        def meanwhile(_: timedelta) -> None:
            if not inner:
                inner.append(place.sweep(page=1, megabytes=3))

        outer = place.sweep(page=1, megabytes=2, wait=meanwhile)
        assert (inner[0].overtaken, outer.overtaken) == (False, True)
        assert place.sweep(page=1, megabytes=1).overtaken is False

    def test_an_item_that_nobody_can_read_is_told_of_and_does_not_stop_the_sweep(self, place: Place) -> None:
        place.put(leased("1"))
        place.client.put_item(
            TableName=TABLE,
            Item={**key_of("broken"), "state": {"S": "leased"}, "expires_at": {"N": "99999999999"}},
        )
        report = place.sweep()
        assert report.unreadable == ["broken"]
        assert len(report.stuck) == 1
        assert report.finished is not None

    def test_a_position_that_this_version_cannot_read_is_begun_anew(self, place: Place) -> None:
        place.put(leased("1"))
        place.client.put_item(TableName=TABLE, Item={**key_of(POSITION, "sweep"), "run": {"S": "seven"}})
        assert len(place.sweep().stuck) == 1
        assert place.sweep().overtaken is False


def told(report: Report, now: datetime = NOW + timedelta(days=1)) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(report, TASK, service="kiosk", stage="test", version="v7", now=now)]


def events(report: Report, event: str) -> list[dict[str, Any]]:
    return [line for line in told(report) if line.get("event") == event]


class TestTelling:
    def test_each_stuck_operation_has_one_line_that_finds_it_again(self, place: Place) -> None:
        place.put(leased("1", tenant="acme", attempts=2, fence=3))
        assert events(place.sweep(), "stuck") == [
            {
                "timestamp": "2026-03-02T12:00:00.000+00:00",
                "service": "kiosk",
                "level": "WARNING",
                "event": "stuck",
                "handler": "plain",
                "tenant": "acme",
                "operation": leased("1").id,
                "state": "leased",
                "kind": "abandoned",
                "since": "2026-03-01T12:00:00.000+00:00",
                "attempt": 2,
                "fence": 3,
            }
        ]

    def test_the_oldest_are_named_first_and_only_so_many(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sweep_telling, "MOST_LINES", 3)
        place.put(*(leased(str(index), lease_until=NOW - timedelta(minutes=index)) for index in range(5)))
        report = place.sweep()
        assert [line["operation"] for line in events(report, "stuck")] == [leased(str(one)).id for one in (4, 3, 2)]
        assert events(report, "sweep")[0]["stuck"] == 5

    def test_each_handler_has_its_gauge_and_a_healthy_one_has_0(self, place: Place) -> None:
        place.put(leased("1"), leased("2"), leased("3", handler="tenants"))
        gauges = {line["handler"]: line["StuckStates"] for line in told(place.sweep()) if "_aws" in line}
        healthy = dict.fromkeys((f"kiosk-test-{one.name}" for one in KIOSK.handlers), 0)
        assert gauges == {**healthy, "kiosk-test-plain": 2, "kiosk-test-tenants": 1}

    def test_the_gauge_is_the_metric_that_the_alarm_reads(self, place: Place) -> None:
        (record, *_) = [line for line in told(place.sweep()) if "_aws" in line]
        assert record["_aws"]["CloudWatchMetrics"] == [
            {
                "Namespace": "surehand",
                "Dimensions": [["handler"]],
                "Metrics": [{"Name": "StuckStates", "Unit": "Count"}],
            }
        ]

    def test_the_run_says_what_it_read_and_a_finished_pass_what_it_took(self, place: Place) -> None:
        place.put(leased("1"), standing(State.SUCCEEDED, "2"))
        (line,) = events(place.sweep(), "sweep")
        assert (line["stuck"], line["pages"], line["items"]) == (1, 1, 2)
        assert line["read_units"] == line["pass"]["read_units"]
        assert line["pass"]["items"] == 2

    def test_no_value_of_a_payload_and_no_result_is_told(self, made: World, place: Place) -> None:
        canary = "CANARY-4711"
        ticket = Ticket(number="1", lane=canary)
        with script():
            careful({"Records": [made.event(careful, ticket)["Records"][0]]}, None)
        operation = made.operation(careful, ticket)
        assert operation is not None
        place.put(replace(operation, state=State.LEASED, lease_until=NOW - timedelta(days=90), result=f'"{canary}"'))
        place.clock.advance(operation.claimed_at - place.clock.now())
        report = place.sweep()
        assert len(report.stuck) == 1
        assert canary not in json.dumps(told(report))


class TestEntry:
    EVENT = TASK.dump()

    def test_the_deployed_function_tells_on_standard_output_and_answers_with_a_summary(
        self, place: Place, capsys: pytest.CaptureFixture[str]
    ) -> None:
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        place.put(leased("1", expires_at=tomorrow, lease_until=datetime(2020, 1, 1, tzinfo=UTC)))
        answer = entrypoint.sweep({"at": "2026-03-01T12:00:00Z", **self.EVENT}, None)
        said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert (answer["stuck"], answer["pages"]) == (1, 1)
        assert [line["operation"] for line in said if line.get("event") == "stuck"] == [leased("1").id]
        gauges = {line["handler"] for line in said if "_aws" in line}
        assert gauges == {f"kiosk-test-{one.name}" for one in KIOSK.handlers}

    @pytest.mark.parametrize("event", [None, {}, {"megabytes": 1}, {"handlers": {"a": [1]}, "megabytes": 1}, []])
    def test_an_event_that_is_not_the_schedules_is_refused_with_an_example(self, event: Any, place: Place) -> None:
        with pytest.raises(ConfigurationError, match=r'like \{"megabytes": 40, "handlers"'):
            entrypoint.sweep(event)

    def test_what_the_schedule_sends_is_what_the_declarations_say(self) -> None:
        assert Task.read(json.loads(json.dumps(TASK.dump()))) == TASK
        assert TASK.patience["tenants"] == patience(tenants)


class TestCost:
    def test_a_small_table_is_read_whole_in_each_run(self) -> None:
        one = cost(8 * 2**20, megabytes=40)
        assert one.passes == timedelta(minutes=5)
        assert one.dollars == pytest.approx(8640 * (1024 * 0.125e-6 + 5 * 0.25 * 13.3334e-6))

    def test_beyond_the_bound_a_pass_takes_longer_and_costs_no_more(self) -> None:
        full, larger = cost(40 * 2**20), cost(4_000 * 2**20)
        assert larger.dollars == full.dollars
        assert larger.passes == 100 * full.passes

    def test_the_page_says_what_the_code_computes(self) -> None:
        page = (ROOT / "docs/sweep.md").read_text(encoding="utf-8").partition("## What it costs")[2]
        rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
        said = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
        assert [row[0] for row in said] == ["10 MB", "100 MB", "1 GB", "24 GB"]
        for size, passes, dollars in said:
            number, unit = size.split()
            expected = cost(int(number) * (2**20 if unit == "MB" else 2**30))
            assert (passes, dollars) == (_words(expected.passes), f"${expected.dollars:.2f}"), size


def _words(length: timedelta) -> str:
    minutes = length // timedelta(minutes=1)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes / 60:.1f} h" if minutes < 2_880 else f"{minutes / 1440:.1f} days"
