"""Who makes which transition: the table says so, and the arithmetic of claims and operators makes these and no other.

A claim and an operator's act are tried on an item in every state, with its lease live and ended, with and without a
requested cancel, for a message that is known and for one that is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from surehand.ledger import Candidate, Lease, Operation, Wanted, Write, decide
from surehand.ledger.claims import Proposal
from surehand.ledger.operating import Act, cancel, dead_lettered, release, resolve
from surehand.states import TRANSITIONS, Actor, State
from tests.unit.operations import DAYS, HOUR, NOW, an_operation

ACT = Act(actor="ann", reason="said so", now=NOW, retention=DAYS)
LEASE = Lease(owner="two", until=NOW + HOUR, retention=DAYS)
NAMES = {"operation_id": "o", "handler": "orders", "tenant": "t"}

HELD = (State.LEASED, State.PROCESSING)
FAILED = (State.PERMANENTLY_FAILED, State.DEAD_LETTERED)
WAITING = (State.PENDING, State.RETRYABLE_FAILED)

Move = tuple[State | None, State]


def items() -> Iterator[Operation | None]:
    """An item as each state leaves it. A cancel stays requested only as long as it may still take effect."""
    yield None
    for state in State:
        failed = ("m1",) if state is State.PERMANENTLY_FAILED else ()
        plain = an_operation(state, failed_ids=failed)
        leases = [NOW - HOUR / 2, NOW + HOUR / 2] if state in HELD else [None]
        for lease_until in leases:
            yield replace(plain, lease_until=lease_until)
            if state in HELD or state in WAITING or state is State.DEAD_LETTERED:
                yield replace(plain, lease_until=lease_until, cancel_requested=True)


def moves(writes: list[object]) -> set[Move]:
    """What these change; a write that keeps state, fence and owner moves nothing."""
    made: set[Move] = set()
    for one in writes:
        if not isinstance(one, Write):
            continue
        old, new = one.previous, one.operation
        if old is None or (old.state, old.fence, old.owner) != (new.state, new.fence, new.owner):
            made.add((None if old is None else old.state, new.state))
    return made


def claims() -> list[object]:
    known, redriven = Candidate("m1", NOW - 2 * HOUR), Candidate("m2", NOW)
    asked = [Wanted(id="o", handler="orders", tenant="t", candidates=(c,), fingerprints=()) for c in (known, redriven)]
    leases = (LEASE, replace(LEASE, decides=True))
    answers = [
        decide(existing, wanted, lease=lease, now=NOW) for existing in items() for wanted in asked for lease in leases
    ]
    return [answer.write for answer in answers if isinstance(answer, Proposal)]


def acts() -> list[object]:
    return [
        write
        for one in items()
        for write in (
            cancel(one, ACT, **NAMES),
            release(one, ACT),
            resolve(one, ACT, applied=True),
            resolve(one, ACT, applied=False),
        )
    ]


def seen() -> list[object]:
    return [dead_lettered(one, ACT, **NAMES, message_ids=["m2"]) for one in items()]


def allowed(actor: Actor) -> set[Move]:
    return {(source, to) for source, rules in TRANSITIONS.items() for to, rule in rules.items() if actor in rule.by}


EXPECTED: dict[Actor, set[Move]] = {
    Actor.CLAIM: {
        (None, State.LEASED),
        *((source, State.LEASED) for source in (*WAITING, *HELD, *FAILED)),
        *((source, State.CANCELED) for source in (*HELD, State.DEAD_LETTERED)),
    },
    Actor.OPERATOR: {
        (None, State.CANCELED),
        *((source, State.CANCELED) for source in (*WAITING, *HELD, State.DEAD_LETTERED)),
        *((source, State.PENDING) for source in (*HELD, *FAILED)),
        *((source, State.SUCCEEDED) for source in FAILED),
    },
    Actor.DEAD_LETTERS: {
        (None, State.DEAD_LETTERED),
        *((source, State.DEAD_LETTERED) for source in (*WAITING, *HELD, State.PERMANENTLY_FAILED)),
    },
    Actor.HOLDER: {
        (State.LEASED, State.PROCESSING),
        *(
            (source, to)
            for source in HELD
            for to in (
                State.PENDING, State.SUCCEEDED, State.RETRYABLE_FAILED, State.PERMANENTLY_FAILED, State.CANCELED
            )
        ),
        (State.SUCCEEDED, State.COMPENSATED),
    },
}  # fmt: skip


@pytest.mark.parametrize("actor", Actor)
def test_the_table_lets_each_actor_make_these_transitions(actor) -> None:
    assert allowed(actor) == EXPECTED[actor]


@pytest.mark.parametrize(
    ("actor", "writes"), [(Actor.CLAIM, claims), (Actor.OPERATOR, acts), (Actor.DEAD_LETTERS, seen)]
)
def test_what_each_actor_can_write_is_what_the_table_lets_it(actor, writes) -> None:
    assert moves(writes()) == allowed(actor)
