"""When a schedule's ticks come, and what becomes of those that come late or too soon: checked as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from typing import Literal

from surehand.declare import limits
from surehand.declare.cron import Cron
from surehand.declare.when import When, every, shortest_gap
from surehand.errors import DeclarationError

#: What becomes of a tick whose predecessor's run has not ended: "skip" cancels it, "queue" lets one wait for the end
#: and cancels further ones, "allow" runs both.
Overlap = Literal["skip", "queue", "allow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When a handler runs, and what becomes of a tick that comes late or during another one's run."""

    when: When
    overlap: Overlap
    catch_up: timedelta
    flexible: timedelta

    @property
    def zone(self) -> tzinfo:
        """The time zone that ticks are told in."""
        return self.when.zone if isinstance(self.when, Cron) else UTC

    @property
    def longest_delivery(self) -> timedelta:
        """For how long EventBridge Scheduler tries to deliver a tick: less than the time to the next one, and than
        `catch_up`, after which it would be skipped; within AWS's 60 s to 24 h."""
        gap = shortest_gap(self.when)
        bounds = [self.catch_up, limits.LONGEST_DELIVERY, *([] if gap is None else [gap / 2])]
        return max(limits.SHORTEST_DELIVERY, min(bounds))


def timing(name: str, when: object, *, overlap: Overlap, catch_up: timedelta, flexible: timedelta) -> Timing:
    """Return the checked timing of the handler called *name*.

    Raises:
        DeclarationError: Names the option, what was given and what it must be.
    """
    if not isinstance(when, Cron | timedelta):
        raise DeclarationError(
            f"Handler '{name}': when={when!r}, but it must be cron(…) or a timedelta. For a cron expression write "
            'cron("0 2 * * ? *", timezone="Europe/Berlin").'
        )
    made = Timing(
        when=every(when) if isinstance(when, timedelta) else when, overlap=overlap, catch_up=catch_up, flexible=flexible
    )
    if overlap not in ("skip", "queue", "allow"):
        raise DeclarationError(f"Handler '{name}': overlap={overlap!r}, but it must be 'skip', 'queue' or 'allow'.")
    minute = timedelta(minutes=1)
    if not isinstance(catch_up, timedelta) or not minute <= catch_up <= limits.LONGEST_CATCH_UP:
        raise DeclarationError(
            f"Handler '{name}': catch_up={catch_up!r}, but it must be from 1 minute (AWS delivers within one) to "
            f"{limits.LONGEST_CATCH_UP.days} days."
        )
    if (
        not isinstance(flexible, timedelta)
        or flexible % minute
        or not timedelta(0) <= flexible <= limits.LONGEST_FLEXIBLE
    ):
        raise DeclarationError(f"Handler '{name}': flexible={flexible!r}, but it must be whole minutes, 0 to 24 hours.")
    gap = shortest_gap(made.when)
    if gap is not None and flexible >= gap:
        raise DeclarationError(
            f"Handler '{name}': flexible={flexible!r}, but ticks may come {gap} apart; a window as long as that would "
            "let them overtake each other."
        )
    if catch_up <= flexible:
        raise DeclarationError(
            f"Handler '{name}': catch_up={catch_up!r} is not longer than flexible={flexible!r}: ticks that AWS "
            "delivers in time would be skipped."
        )
    return made
