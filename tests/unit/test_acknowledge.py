"""The answer to Lambda, and which messages SQS is told to hide, for how long."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from surehand.delivery import Delivery, Unreadable
from surehand.outcomes import OUTCOMES, Outcome
from surehand.queues import Visibility
from surehand.worker.acknowledge import response, set_visibilities
from surehand.worker.endings import Ending
from tests.scenarios.kiosk import plain

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def delivery(message_id: str) -> Delivery:
    handle = f"handle of {message_id}"
    return Delivery(
        message_id=message_id, receipt_handle=handle, body="", receive_count=1, sent_at=NOW, received_at=NOW
    )


def ending(index: int, outcome: Outcome, wait: timedelta | None = SECOND) -> Ending:
    return Ending(index=index, delivery=delivery(f"m{index}"), outcome=outcome, phase="run", wait=wait)


class Queues:
    """Remembers what it was told, and refuses what is listed."""

    def __init__(self, *refused: int) -> None:
        self.told: list[list[Visibility]] = []
        self.refused = refused

    def set_visibility(self, handler: str, changes: list[Visibility]) -> Any:
        assert handler == "plain"
        self.told.append(changes)
        return [SimpleNamespace(index=index, code="MessageNotInflight") for index in self.refused]


def hidden(*endings: Ending) -> dict[str, timedelta]:
    queues: Any = Queues()
    assert list(set_visibilities(plain, queues, endings)) == []
    return {change.receipt_handle: change.wait for told in queues.told for change in told}


@pytest.mark.parametrize("outcome", Outcome)
def test_only_what_may_be_deleted_is_missing_in_the_answer_and_is_not_hidden(outcome) -> None:
    one = ending(0, outcome)
    kept = not OUTCOMES[outcome].deleted
    assert response([delivery("m0")], {0: one}) == {"batchItemFailures": [{"itemIdentifier": "m0"}] * kept}
    assert hidden(one) == ({"handle of m0": SECOND} if kept else {})


def test_a_record_that_nothing_is_known_of_is_kept_and_each_id_is_named_once() -> None:
    records = [delivery("m0"), delivery("m0"), delivery("m1")]
    endings = {2: ending(2, Outcome.SUCCEEDED)}
    assert response(records, endings) == {"batchItemFailures": [{"itemIdentifier": "m0"}]}


def test_without_a_wait_or_a_handle_the_queue_s_own_visibility_stands() -> None:
    unreadable = Unreadable(message_id="m1", receipt_handle=None, receive_count=1, group=None, problem="body")
    assert hidden(
        ending(0, Outcome.RETRY, None),
        replace(ending(1, Outcome.REJECTED), delivery=unreadable),
        ending(2, Outcome.RETRY, timedelta(0)),
    ) == {"handle of m2": timedelta(0)}


def test_nothing_to_hide_is_no_call() -> None:
    queues: Any = Queues()
    assert set_visibilities(plain, queues, [ending(0, Outcome.SUCCEEDED)]) == ()
    assert queues.told == []


def test_a_wait_is_cut_to_what_sqs_can_hide_since_the_receive() -> None:
    options = plain.options
    most = 12 * HOUR - options.batch_window - options.timeout - timedelta(minutes=1)
    assert hidden(ending(0, Outcome.RETRY, most + SECOND), ending(1, Outcome.RETRY, most - SECOND)) == {
        "handle of m0": most,
        "handle of m1": most - SECOND,
    }


def test_what_sqs_did_not_take_is_named_with_its_code() -> None:
    queues: Any = Queues(1)
    late = ending(2, Outcome.RETRY)
    endings = [ending(0, Outcome.SUCCEEDED), ending(1, Outcome.RETRY), late]
    assert set_visibilities(plain, queues, endings) == [(late, "MessageNotInflight")]
