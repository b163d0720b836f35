"""Observations become the fate of each message."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from surehand_cli.local.observation import Delivered, Recorded, Seen, read_delivery
from surehand_cli.local.progress import Progress, rejected, retried
from surehand_cli.local.samples import Fate, Sample, Sent

OPERATION = '["orders",null,["o-1"]]'


def sample(title: str = "an order", fate: Fate = Fate.SUCCEEDED, **more: object) -> Sample:
    return Sample(
        title=title,
        handler="orders",
        send=lambda _: Sent(message_id=f"id of {title}"),
        fate=fate,
        **more,  # type: ignore[arg-type]
    )


def delivered(outcome: str, *, message: str = "id of an order", attempt: int = 1, code: str | None = None) -> Delivered:
    return Delivered(
        handler="orders", message_id=message, operation=OPERATION, attempt=attempt, outcome=outcome, code=code
    )


def seen(*deliveries: Delivered, state: str | None = None, dead: Sequence[str] = (), waiting: int = 0) -> Seen:
    ledger = {} if state is None else {OPERATION: Recorded(state=state)}
    return Seen(deliveries=deliveries, other_lines=[], ledger=ledger, dead=frozenset(dead), waiting=waiting)


def progress(*samples: Sample) -> Progress:
    started = Progress(samples or (sample(),))
    for track in started.due():
        assert track.sample is not None
        track.sent = Sent(message_id=f"id of {track.title}")
    return started


def test_a_message_has_succeeded_once_the_ledger_says_so_too() -> None:
    run = progress()

    run.add(seen(delivered("succeeded"), state="leased"))
    assert run.tracks[0].fate is None

    run.add(seen(state="succeeded"))
    assert run.tracks[0].fate is Fate.SUCCEEDED


@pytest.mark.parametrize(
    ("outcome", "state", "fate"),
    [
        ("already_applied", "succeeded", Fate.ALREADY_APPLIED),
        ("canceled", "canceled", Fate.CANCELED),
        ("retry", "retryable_failed", None),
        ("rejected", "permanently_failed", None),
        ("in_progress", "leased", None),
    ],
)
def test_the_last_outcome_decides(outcome: str, state: str, fate: Fate | None) -> None:
    run = progress()

    run.add(seen(delivered("retry"), delivered(outcome), state=state))

    assert run.tracks[0].fate is fate


def test_only_the_dead_letter_queue_makes_a_dead_letter() -> None:
    run = progress()

    run.add(seen(delivered("rejected"), state="permanently_failed", dead=["id of an order"]))

    assert run.tracks[0].fate is Fate.DEAD_LETTERED


def test_a_sample_that_waits_for_another_is_due_when_that_has_met_its_fate() -> None:
    run = progress(sample(), sample("again", after="an order"))
    assert list(run.due()) == []

    run.add(seen(delivered("succeeded"), state="succeeded"))

    assert [track.title for track in run.due()] == ["again"]


@pytest.mark.parametrize(
    ("expected", "met"),
    [
        (sample(code="provider.busy", attempts=2), True),
        (sample(), True),
        (sample(code="provider.timeout"), False),
        (sample(attempts=1), False),
        (sample(fate=Fate.CANCELED), False),
    ],
)
def test_fate_code_and_attempts_must_be_the_expected_ones(expected: Sample, met: bool) -> None:
    run = progress(expected)

    run.add(seen(delivered("retry", code="provider.busy"), delivered("succeeded", attempt=2), state="succeeded"))

    assert run.tracks[0].met is met


def test_a_message_of_somebody_else_gets_a_track_of_its_own() -> None:
    run = progress()

    run.add(seen(delivered("succeeded", message="0123456789"), state="succeeded"))

    assert [track.title for track in run.tracks] == ["an order", "o-1"]


def test_a_message_of_somebody_else_that_names_no_operation_is_called_by_its_id() -> None:
    run = progress()
    nameless = dataclasses.replace(
        delivered("rejected", message="0123456789"), operation='["orders",null,["!message","0123456789"]]'
    )

    run.add(seen(nameless))

    assert [track.title for track in run.tracks] == ["an order", "message 01234567"]


def test_a_delivery_can_be_recognised_by_its_operation() -> None:
    run = progress()
    run.tracks[0].sent = Sent(operation=OPERATION)

    run.add(seen(delivered("succeeded", message="of its own making"), state="succeeded"))

    assert len(run.tracks) == 1


def test_the_run_is_done_when_every_message_has_a_fate_and_the_queues_are_empty() -> None:
    run = progress()

    run.add(seen(delivered("succeeded"), state="succeeded", waiting=1))
    assert not run.done

    run.add(seen(state="succeeded", waiting=0))
    assert run.done


def test_equal_outcomes_are_counted_on_the_way() -> None:
    run = progress()

    run.add(seen(*[delivered("retry", code="provider.busy")] * 2, delivered("succeeded")))

    assert run.tracks[0].way == "retry ×2 (provider.busy), succeeded"


def test_retries_are_counted_by_attempt_and_rejections_by_message() -> None:
    run = progress()

    run.add(seen(delivered("retry"), delivered("unknown"), delivered("rejected"), delivered("fast_forwarded")))

    assert (retried(run.tracks), rejected(run.tracks)) == (2, 1)


@pytest.mark.parametrize(
    "line", ["START RequestId: 1", "not json {", "[]", "7", '{"event": "other"}', '{"_aws": {}, "message_id": "1"}']
)
def test_lines_that_tell_of_no_delivery_are_none(line: str) -> None:
    assert read_delivery(line) is None


def test_a_delivery_is_read_from_the_engines_log_line() -> None:
    line = (
        '{"event": "delivery", "handler": "orders", "message_id": "m", "operation": null, "attempt": null, '
        '"outcome": "rejected", "failure_code": "input.schema", "state": "permanently_failed"}'
    )

    assert read_delivery(line) == Delivered(
        handler="orders", message_id="m", operation=None, attempt=0, outcome="rejected", code="input.schema"
    )


def webhooks(*samples: Sample, statuses: Sequence[int], operation: str | None = OPERATION) -> Progress:
    """Post samples that are all about one operation, one as soon as it is due."""
    run = Progress(samples)
    for track, status in zip(run.tracks, statuses, strict=True):
        track.sent = Sent(operation=operation, status=status)
    return run


def test_two_webhooks_about_one_operation_are_told_apart_by_their_messages() -> None:
    run = webhooks(sample("paid", status=200), sample("again", Fate.ALREADY_APPLIED, status=200), statuses=[200, 200])

    run.add(seen(delivered("retry", message="m1"), state="retryable_failed"))
    run.add(seen(delivered("succeeded", message="m1"), delivered("already_applied", message="m2"), state="succeeded"))

    assert [track.way for track in run.tracks] == ["200, retry, succeeded", "200, already_applied"]
    assert all(track.met for track in run.tracks)


@pytest.mark.parametrize(("status", "fate"), [(401, Fate.REFUSED), (503, Fate.REFUSED), (200, Fate.ANSWERED)])
def test_a_webhook_that_ends_at_the_door_has_its_fate_at_once(status: int, fate: Fate) -> None:
    run = webhooks(sample(fate=fate, status=status), statuses=[status], operation=None)

    assert (run.tracks[0].fate, run.tracks[0].met, run.done) == (fate, True, True)


def test_a_webhook_that_was_answered_otherwise_is_not_as_expected() -> None:
    run = webhooks(sample(fate=Fate.REFUSED, status=401), statuses=[503], operation=None)

    assert not run.tracks[0].met


def empty_queues(state: str, messages: Sequence[str], *, attempts: int = 1, code: str | None = None) -> Seen:
    item = Recorded(state=state, messages=messages, attempts=attempts, code=code)
    return dataclasses.replace(seen(), ledger={OPERATION: item})


def test_a_delivery_whose_log_line_was_lost_is_known_from_the_ledger_once_the_queues_stay_empty() -> None:
    run = progress(sample(), sample("the same again", Fate.ALREADY_APPLIED))
    settled = empty_queues("succeeded", ["id of an order", "id of the same again"])
    for _ in range(9):
        run.add(settled)
    assert not run.done
    run.add(settled)
    assert [track.fate for track in run.tracks] == [Fate.SUCCEEDED, Fate.ALREADY_APPLIED]


@pytest.mark.parametrize(
    "told",
    [
        (),
        (delivered("retry", code="provider.busy"),),
        (delivered("retry", code="provider.busy"), delivered("retry", attempt=2, code="provider.busy")),
        (delivered("succeeded", attempt=3),),
    ],
    ids=["none of them", "the first", "the first two", "the last"],
)
def test_attempts_and_code_are_those_of_the_ledger_whichever_log_lines_were_lost(told: Sequence[Delivered]) -> None:
    run = progress(sample(attempts=3, code="provider.busy"), sample("the same again", Fate.ALREADY_APPLIED))
    run.add(seen(*told))
    messages = ["id of an order", "id of the same again"]
    for _ in range(10):
        run.add(empty_queues("succeeded", messages, attempts=3, code="provider.busy"))
    assert [(track.met, track.attempts, track.code) for track in run.tracks] == [
        (True, 3, "provider.busy"),
        (True, 0, None),
    ]


def test_a_duplicate_whose_only_log_line_was_lost_was_deleted_since_it_is_in_no_queue() -> None:
    run = progress(sample(), sample("the same again", Fate.ALREADY_APPLIED), sample("a dead one", Fate.DEAD_LETTERED))
    for track in run.tracks:
        track.sent = Sent(message_id=f"id of {track.title}", operation=OPERATION)
    run.add(seen(delivered("succeeded")))
    settled = dataclasses.replace(empty_queues("succeeded", ["id of an order"]), dead=frozenset({"id of a dead one"}))
    for _ in range(8):
        run.add(settled)
    assert [track.met for track in run.tracks] == [True, False, True]
    run.add(settled)
    assert [track.way for track in run.tracks] == ["succeeded", "already_applied", ""]
    assert run.done


def test_what_the_ledger_still_holds_is_not_believed_to_have_ended() -> None:
    run = progress()
    for _ in range(20):
        run.add(empty_queues("retryable_failed", ["id of an order"]))
    assert run.tracks[0].fate is None


def test_a_delivery_that_was_seen_is_not_told_again() -> None:
    run = progress()
    run.add(seen(delivered("succeeded"), state="succeeded"))
    for _ in range(20):
        run.add(empty_queues("succeeded", ["id of an order"]))
    assert run.tracks[0].way == "succeeded"
