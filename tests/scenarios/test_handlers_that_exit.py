"""User code that tries to end the process, or the event loop, ends its own record and nothing else."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from surehand import Job, Service, Unknown, queue
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import simulate, world
from tests.scenarios.kiosk import KIOSK, Ticket, awaited, ids, numbered, script


def leave() -> None:
    sys.exit(1)


def interrupt() -> None:
    raise KeyboardInterrupt


def generator_exit() -> None:
    raise GeneratorExit


def stop_the_loop() -> None:
    asyncio.get_running_loop().stop()


def exit_in_a_callback() -> None:
    asyncio.get_running_loop().call_soon(leave)


def close_the_loop() -> None:
    asyncio.get_running_loop().close()


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        (leave, "code.SystemExit"),
        (interrupt, "code.KeyboardInterrupt"),
        (generator_exit, "code.GeneratorExit"),
        (close_the_loop, "code.RuntimeError"),
        (stop_the_loop, None),
        (exit_in_a_callback, None),
    ],
)
def test_what_a_coroutine_does_to_its_loop_is_its_own_outcome(deed, code) -> None:
    async def act(ticket):
        await asyncio.sleep(0.01 if ticket.number != "0" else 0)
        if ticket.number == "0":
            deed()
        await asyncio.sleep(0.01)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        event = made.event(awaited, *numbered(awaited, 4))
        assert ids(awaited(event, None)) == ([event["Records"][0]["messageId"]] if code else [])
        assert made.operation(awaited, Ticket(number="0")).code == code
        assert ids(awaited(made.event(awaited, Ticket(number="next")), None)) == []


def test_an_exit_in_a_task_that_a_coroutine_awaits_is_that_coroutines_own() -> None:
    async def gone() -> None:
        sys.exit(1)

    async def act(ticket):
        if ticket.number == "0":
            await asyncio.gather(gone())
        await asyncio.sleep(0.02)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        event = made.event(awaited, *numbered(awaited, 4))
        assert ids(awaited(event, None)) == [event["Records"][0]["messageId"]]
        assert made.operation(awaited, Ticket(number="0")).code == "code.SystemExit"


def test_under_a_loop_that_dies_an_effect_is_unknown_and_the_next_one_has_a_new_loop() -> None:
    loops: list[Any] = []

    def broken(_events):
        raise ValueError

    async def act(ticket):
        loops.append(asyncio.get_running_loop())
        if ticket.number == "0":
            loops[0]._process_events = broken
            await asyncio.sleep(5)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        assert len(ids(awaited(made.event(awaited, Ticket(number="0")), None))) == 1
        told = made.teller.endings[0]
        assert (told.outcome, told.code) == (Outcome.UNKNOWN, "effect.interrupted")
        assert ids(awaited(made.event(awaited, Ticket(number="1")), None)) == []
    assert loops[0] is not loops[1]


def test_in_a_simulated_account_an_exit_in_a_coroutine_harms_no_neighbour() -> None:
    async def act(ticket):
        if ticket.number == "0":
            sys.exit(1)

    with script(lambda ticket, job: act(ticket)), simulate(awaited) as account:
        account.deliver(awaited, *numbered(awaited, 4))
        fates = [account.operation(awaited, one) for one in numbered(awaited, 4)]
    assert [fate.state for fate in fates] == [State.PERMANENTLY_FAILED, *[State.SUCCEEDED] * 3]
    assert fates[0].code == "code.SystemExit"


class Fussy(BaseModel):
    """A payload whose validator or key function leaves the process for one number."""

    number: str

    @field_validator("number")
    @classmethod
    def _allowed(cls, number: str) -> str:
        if number == "bad-field":
            sys.exit(1)
        return number


def key_of(payload: Fussy) -> str:
    if payload.number == "bad-key":
        sys.exit(1)
    if payload.number == "ctrl-c":
        raise KeyboardInterrupt
    return payload.number


def ask(payload: Fussy, job: Job) -> bool | None:
    sys.exit(1)


@queue("fussy", key=key_of, on_unknown=ask)
def fussy(payload: Fussy, job: Job) -> None:
    """A queue all of whose callables may exit."""
    if payload.number == "bad-question":
        raise Unknown("effect.lost")


FUSSY = Service("fussy", (fussy,))


@pytest.mark.parametrize(("number", "function"), [("bad-field", "Fussy._allowed"), ("bad-key", "key_of")])
def test_a_validator_or_key_function_that_exits_refuses_its_own_record(number, function) -> None:
    with world(FUSSY) as made:
        bodies = [f'{{"number": "{one}"}}' for one in ("1", number, "2")]
        event = made.event(fussy, *bodies)
        assert ids(fussy(event, None)) == [event["Records"][1]["messageId"]]
        assert [ending.outcome for ending in made.teller.endings] == ["succeeded", "rejected", "succeeded"]
        refused = made.teller.endings[1]
        assert (refused.code, refused.origin.type) == ("code.SystemExit", "SystemExit")
        assert refused.origin.raised_at[-1].endswith(f" {function}")


def test_a_question_that_exits_is_asked_again_and_harms_no_neighbour() -> None:
    with world(FUSSY) as made:
        event = made.event(fussy, Fussy(number="bad-question"), Fussy(number="1"))
        assert ids(fussy(event, None)) == [event["Records"][0]["messageId"]]
        assert made.operation(fussy, Fussy(number="bad-question")).code == "effect.unanswered"
        again = made.event(fussy, Fussy(number="bad-question"), Fussy(number="2"))
        made.clock.advance(timedelta(hours=1))
        assert ids(fussy(again, None)) == [again["Records"][0]["messageId"]]


def test_ctrl_c_while_records_are_read_reaches_the_operator() -> None:
    with world(FUSSY) as made, pytest.raises(KeyboardInterrupt):
        fussy(made.event(fussy, '{"number": "ctrl-c"}'), None)
