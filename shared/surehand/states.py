"""The states of an operation and the closed table of legal transitions.

The table is the one of the model-checked protocol (`docs/protocol.md`). Whatever is not in it is refused by the
ledger and leaves the item as it is. An item past its `expires_at` counts as absent (`None`), but its fence continues.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where an operation stands."""

    #: Known and claimable: deferred, continued or released without having been started.
    PENDING = "pending"
    #: Owned by one invocation until `lease_until`. Its handler may have run (P5: unless `processing` is written first).
    LEASED = "leased"
    #: As leased, and the handler is known to have been started. Written only for suspects and where the effect matters.
    PROCESSING = "processing"
    #: The handler returned. Duplicates are acknowledged.
    SUCCEEDED = "succeeded"
    #: The attempt failed and another one is due at `not_before`.
    RETRYABLE_FAILED = "retryable_failed"
    #: No further attempt under these message ids. SQS moves the message to the dead-letter queue.
    PERMANENTLY_FAILED = "permanently_failed"
    #: Seen in the dead-letter queue.
    DEAD_LETTERED = "dead_lettered"
    #: The business, or an operator, said no. Duplicates are acknowledged.
    CANCELED = "canceled"
    #: Reserved for steps with compensation; nothing reaches it yet.
    COMPENSATED = "compensated"


class Actor(StrEnum):
    """Who may make a transition."""

    CLAIM = "claim"
    HOLDER = "holder"
    OPERATOR = "operator"
    DEAD_LETTERS = "dead letters"


@dataclass(frozen=True, slots=True)
class Rule:
    """One legal transition: who makes it, and the ledger's condition beyond fence, owner and exact state."""

    by: frozenset[Actor]
    condition: str


_NEW = "no item, or one past expires_at"
_DUE = "not_before has passed (P6)"
_LAPSED = "lease_until has passed"
_MINE = "fence and owner are the holder's"
_ENDS = "fence and owner are the holder's, or, for anybody else, lease_until has passed (P8)"
_IDLE = "no live lease (P8)"
_DECIDED = "a claim only where on_unknown has nothing to decide about (P5)"
_SEEN = "the message was read from the dead-letter queue (P2)"
_REDRIVE = "a redrive (P1), or a message id that has not failed permanently (P2)"


def _rule(condition: str, *by: Actor) -> Rule:
    return Rule(by=frozenset(by), condition=condition)


def _held() -> dict[State, Rule]:
    """What may follow while, or after, somebody holds the lease."""
    return {
        State.LEASED: _rule(_LAPSED, Actor.CLAIM),
        State.PENDING: _rule(_ENDS, Actor.HOLDER, Actor.OPERATOR),
        State.SUCCEEDED: _rule(_MINE, Actor.HOLDER),
        State.RETRYABLE_FAILED: _rule(_MINE, Actor.HOLDER),
        State.PERMANENTLY_FAILED: _rule(_MINE, Actor.HOLDER),
        State.CANCELED: _rule(f"{_ENDS}; {_DECIDED}", Actor.HOLDER, Actor.OPERATOR, Actor.CLAIM),
        State.DEAD_LETTERED: _rule(_SEEN, Actor.DEAD_LETTERS),
    }


#: from → to → rule. `None` is "no item".
TRANSITIONS: Mapping[State | None, Mapping[State, Rule]] = {
    None: {
        State.LEASED: _rule(_NEW, Actor.CLAIM),
        State.CANCELED: _rule(_NEW, Actor.OPERATOR),
        State.DEAD_LETTERED: _rule(_SEEN, Actor.DEAD_LETTERS),
    },
    State.PENDING: {
        State.LEASED: _rule(_DUE, Actor.CLAIM),
        State.CANCELED: _rule(_IDLE, Actor.OPERATOR),
        State.DEAD_LETTERED: _rule(_SEEN, Actor.DEAD_LETTERS),
    },
    State.LEASED: {State.PROCESSING: _rule(_MINE, Actor.HOLDER), **_held()},
    State.PROCESSING: _held(),
    State.RETRYABLE_FAILED: {
        State.LEASED: _rule(_DUE, Actor.CLAIM),
        State.CANCELED: _rule(_IDLE, Actor.OPERATOR),
        State.DEAD_LETTERED: _rule(_SEEN, Actor.DEAD_LETTERS),
    },
    State.PERMANENTLY_FAILED: {
        State.LEASED: _rule(_REDRIVE, Actor.CLAIM),
        State.DEAD_LETTERED: _rule(_SEEN, Actor.DEAD_LETTERS),
        State.SUCCEEDED: _rule("resolved as applied", Actor.OPERATOR),
        State.PENDING: _rule("resolved as not applied", Actor.OPERATOR),
    },
    State.DEAD_LETTERED: {
        State.LEASED: _rule(_REDRIVE, Actor.CLAIM),
        State.SUCCEEDED: _rule("resolved as applied", Actor.OPERATOR),
        State.PENDING: _rule("resolved as not applied", Actor.OPERATOR),
        State.CANCELED: _rule(f"{_IDLE}; {_DECIDED}", Actor.OPERATOR, Actor.CLAIM),
    },
    State.SUCCEEDED: {State.COMPENSATED: _rule("reserved", Actor.HOLDER)},
    State.CANCELED: {},
    State.COMPENSATED: {},
}

#: States in which one invocation owns the operation.
HELD = frozenset({State.LEASED, State.PROCESSING})

#: States that no delivery leaves.
FINAL = frozenset({State.SUCCEEDED, State.CANCELED, State.COMPENSATED})

#: States that the sparse index `attention` lists.
ATTENTION = frozenset({State.PERMANENTLY_FAILED, State.DEAD_LETTERED})


def legal(source: State | None, target: State) -> bool:
    """Tell whether the table has the transition."""
    return target in TRANSITIONS[source]
