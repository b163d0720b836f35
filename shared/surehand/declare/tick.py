"""One firing of a schedule, as a payload: its JSON, its key, and its time zone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Annotated

from pydantic import AwareDatetime, PlainSerializer

from surehand.declare.payload import PayloadType

#: What EventBridge Scheduler replaces by the moment that a tick stands for, in UTC. Two deliveries of one tick have it
#: in common; `<aws.scheduler.execution-id>` differs with each attempt and is no key.
#: Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"
#: The body of a tick's message, as the schedule sends it.
TICK_BODY = json.dumps({"at": SCHEDULED_TIME}, separators=(",", ":"))


def moment_text(moment: datetime) -> str:
    """Return a moment in UTC as EventBridge Scheduler writes it: `2026-01-31T02:00:00Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Tick:
    """One firing of a schedule. *at* is the moment that it stands for (aware, in the schedule's zone), not the present.

    Raises:
        ValueError: *at* has no time zone.
    """

    at: Annotated[AwareDatetime, PlainSerializer(moment_text, return_type=str)]

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise ValueError("Tick(at=…) needs an aware datetime; this one has no time zone.")


def tick_key(tick: Tick) -> str:
    """Return what names a tick within its handler: its moment in UTC, whatever the zone it is told in."""
    return moment_text(tick.at)


def moment_of(operation_id: str) -> datetime | None:
    """Return the moment (UTC) of the tick that an operation's id names; None if it names none."""
    try:
        parts = json.loads(operation_id)[2]
        return datetime.fromisoformat(parts[0]).astimezone(UTC) if len(parts) == 1 else None
    except (ValueError, TypeError, LookupError):
        return None


class TickType(PayloadType[Tick]):
    """The payload type of a schedule: ticks are told in the schedule's zone."""

    def __init__(self, zone: tzinfo, *, of: str) -> None:
        super().__init__(Tick, of=of)
        self._zone = zone

    def validate(self, body: str | bytes) -> Tick:
        """Return the tick that *body* stands for. See `PayloadType.validate`."""
        return Tick(super().validate(body).at.astimezone(self._zone))
