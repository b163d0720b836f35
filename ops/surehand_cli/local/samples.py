"""What is sent in a local run, and what must become of it. Each kind of trigger sends in a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from surehand_cli.local.deployed import Deployed


class Fate(StrEnum):
    """What has finally become of a message, or of a request that never became one."""

    SUCCEEDED = "succeeded"
    ALREADY_APPLIED = "already_applied"
    CANCELED = "canceled"
    DEAD_LETTERED = "dead_lettered"
    #: A handshake, which the ingress answers by itself.
    ANSWERED = "answered"
    #: A forged or stale request, or one for nobody.
    REFUSED = "refused"

    @property
    def at_the_door(self) -> bool:
        """Whether the request ends at the ingress, so that it is no message."""
        return self in (Fate.ANSWERED, Fate.REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """How a sample is recognised once it is on its way: by its message id, or by its operation's id.

    *status* is the HTTP status that a webhook was answered with.
    """

    message_id: str | None = None
    operation: str | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One message and its expected fate.

    *send* puts it on its way. *code* is the failure code that its last failed delivery must have; None accepts any.
    *attempts* is how many attempts it must take, *status* what a webhook must be answered with. *after* is the title of
    the sample that must have met its fate first.
    """

    title: str
    handler: str
    send: Callable[[Deployed], Sent]
    fate: Fate
    code: str | None = None
    attempts: int | None = None
    status: int | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What the outside world has really seen.

    *total* effects; *duplicated*: those beyond one for each piece of work; *out_of_order*: those that came before an
    earlier one of their group.
    """

    total: int
    duplicated: int
    out_of_order: int


def _no_effects() -> Effects:
    return Effects(total=0, duplicated=0, out_of_order=0)


def _sending_by_hand(deployed: Deployed) -> Sequence[tuple[str, str]]:
    """Return a command for each handler that a plain message can be sent to."""
    return [
        (
            f"Send a message to '{handler.name}':",
            f"curl -s {deployed.queue(handler)} -d Action=SendMessage --data-urlencode 'MessageBody={{…}}'",
        )
        for handler in deployed.service.handlers
        if handler.trigger == "queue" and not handler.options.fifo
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a service meets in a local run. `[tool.surehand] local` names a context manager that yields this.

    *environment* is given to every function; *samples* are sent in this order; *effects* counts what has happened so
    far, and *expected_effects* is what that must be in the end. *hints* are commands to try by hand, as pairs of what
    they show and the command. *prepare* makes what must be there before the first sample and is in no stack.
    Without any of it the service is deployed, and waits for what is sent by hand.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    samples: Sequence[Sample] = ()
    effects: Callable[[], Effects] = _no_effects
    expected_effects: int = 0
    hints: Callable[[Deployed], Sequence[tuple[str, str]]] = _sending_by_hand
    prepare: Callable[[Deployed], None] = lambda _: None
