"""What a local run comes to, in numbers."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from surehand_cli.local.progress import Track, rejected, retried
from surehand_cli.local.samples import Effects, Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`sent` = succeeded + already_applied + canceled + dead_lettered + lost.

    *retried* counts attempts that were followed by another wait, *rejected* the messages that were given up: both on
    the way, so neither is part of that sum. *requests* counts the webhooks by the status of their answers; those that
    were refused or answered at the door are no messages, and not in the sum either. *lost* has met no durable fate
    within the time. *unexpected* are the titles of the samples that did not come to what was expected of them.
    """

    sent: int
    succeeded: int
    already_applied: int
    canceled: int
    dead_lettered: int
    lost: int
    retried: int
    rejected: int
    effects: int
    expected_effects: int
    duplicated_effects: int
    out_of_order: int
    requests: Mapping[str, int]
    unexpected: Sequence[str]
    seconds: float

    @property
    def good(self) -> bool:
        """Whether every message met its expected fate and every effect happened exactly once and in order."""
        return not (
            self.unexpected
            or self.lost
            or self.duplicated_effects
            or self.out_of_order
            or self.effects != self.expected_effects
        )

    def as_json(self) -> dict[str, object]:
        """Return the fields as JSON has them."""
        return {**dataclasses.asdict(self), "requests": dict(self.requests), "unexpected": list(self.unexpected)}


def report(tracks: Sequence[Track], effects: Effects, *, expected_effects: int, seconds: float) -> Report:
    """Count the samples among *tracks*; what somebody else has sent is not part of the report."""
    ours = [track for track in tracks if track.sample is not None]
    messages = [track for track in ours if track.sample is not None and not track.sample.fate.at_the_door]
    fates = Counter(track.fate for track in messages)
    statuses = Counter(str(track.status) for track in ours if track.status is not None)
    return Report(
        sent=len(messages),
        succeeded=fates[Fate.SUCCEEDED],
        already_applied=fates[Fate.ALREADY_APPLIED],
        canceled=fates[Fate.CANCELED],
        dead_lettered=fates[Fate.DEAD_LETTERED],
        lost=fates[None],
        retried=retried(ours),
        rejected=rejected(ours),
        effects=effects.total,
        expected_effects=expected_effects,
        duplicated_effects=effects.duplicated,
        out_of_order=effects.out_of_order,
        requests=dict(sorted(statuses.items())),
        unexpected=[track.title for track in ours if not track.met],
        seconds=round(seconds, 1),
    )
