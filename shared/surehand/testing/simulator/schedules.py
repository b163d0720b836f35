"""EventBridge Scheduler with a queue as its target.

Source: EventBridge Scheduler user guide, "Managing a schedule" (context attributes, flexible time windows),
"Configuring a dead-letter queue" and API_RetryPolicy. Delivery is at least once, with a precision of 60 seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from surehand.testing.simulator.holding import Scene
from surehand.testing.simulator.limits import SCHEDULER_AGE, SCHEDULER_PRECISION, SCHEDULER_RETRIES
from surehand.testing.simulator.message import Denied
from surehand.testing.simulator.queue import Queue
from surehand.testing.simulator.record import ACCOUNT, REGION

#: The first and the longest pause between two attempts. AWS says "exponential backoff" and gives no numbers.
_FIRST_PAUSE = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(hours=1)


class Schedule:
    """One schedule. Made by `Simulation.schedule`.

    Args:
        name: The schedule's name.
        scene: The simulation's shared parts.
        following: Returns the next scheduled time after a moment, or None for no more.
        target: The queue that each tick is sent to.
        text: The message's body. `<aws.scheduler.scheduled-time>`, `-schedule-arn`, `-execution-id` and
            `-attempt-number` are replaced; execution id and attempt number differ at every attempt.
        window: The flexible time window; a tick comes at some moment in it.
        retries: Attempts after the first, 0 to 185.
        longest_age: After this long an undelivered tick goes to the dead-letter queue.
        dead_letters: Where undeliverable ticks go; without one they are lost, as with AWS.
    """

    def __init__(
        self,
        name: str,
        scene: Scene,
        *,
        following: Callable[[datetime], datetime | None],
        target: Queue,
        text: str,
        window: timedelta = timedelta(0),
        retries: int = SCHEDULER_RETRIES,
        longest_age: timedelta = SCHEDULER_AGE,
        dead_letters: Queue | None = None,
    ) -> None:
        if not 0 <= retries <= SCHEDULER_RETRIES or not timedelta(minutes=1) <= longest_age <= SCHEDULER_AGE:
            raise ValueError("MaximumRetryAttempts is 0 to 185, MaximumEventAgeInSeconds 60 to 86,400")
        self.name = name
        self.enabled = True
        #: Ticks cannot be delivered before this moment: an outage of the target.
        self.target_down_until: datetime | None = None
        self._scene = scene
        self._following = following
        self._target = target
        self._text = text
        self._window = window
        self._retries = retries
        self._longest_age = longest_age
        self._dead_letters = dead_letters
        self._plan(scene.timeline.now())

    @property
    def arn(self) -> str:
        """The schedule's ARN."""
        return f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{self.name}"

    def tick(self, scheduled: datetime) -> None:
        """Deliver the tick of *scheduled* now, as a duplicate delivery or by a hand does."""
        self._deliver(scheduled, 1, self._scene.timeline.now())

    def _plan(self, after: datetime) -> None:
        scheduled = self._following(after)
        if scheduled is not None:
            self._scene.timeline.at(scheduled, lambda: self._due(scheduled), background=True)

    def _due(self, scheduled: datetime) -> None:
        self._plan(scheduled)
        if not self.enabled:
            return
        chance = self._scene.chance
        twice = chance.of(chance.faults.tick_duplicate)
        for _ in range(2 if twice else 1):
            wait = chance.within(self._window + SCHEDULER_PRECISION)
            self._scene.timeline.after(wait, lambda: self._deliver(scheduled, 1, self._scene.timeline.now()))

    def _deliver(self, scheduled: datetime, attempt: int, since: datetime) -> None:
        now = self._scene.timeline.now()
        try:
            if self.target_down_until is not None and now < self.target_down_until:
                raise Denied("InternalFailure", "the target is down")
            self._target.send(self._body(scheduled, attempt))
        except Denied:
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt - 1, 30))
            if attempt > self._retries or now + pause - since > self._longest_age:
                self._give_up(scheduled, attempt)
            else:
                self._scene.timeline.after(pause, lambda: self._deliver(scheduled, attempt + 1, since))
        else:
            self._scene.trail.note("ticked", self.name, _text(scheduled))

    def _body(self, scheduled: datetime, attempt: int) -> str:
        values = {
            "scheduled-time": _text(scheduled),
            "schedule-arn": self.arn,
            "execution-id": self._scene.chance.identifier(),
            "attempt-number": str(attempt),
        }
        text = self._text
        for name, value in values.items():
            text = text.replace(f"<aws.scheduler.{name}>", value)
        return text

    def _give_up(self, scheduled: datetime, attempt: int) -> None:
        self._scene.trail.note("tick given up", self.name, _text(scheduled))
        if self._dead_letters is not None:
            facts = {
                "SCHEDULE_ARN": self.arn,
                "SCHEDULED_TIME": _text(scheduled),
                "RETRY_ATTEMPTS": str(attempt - 1),
                "ERROR_CODE": "InternalFailure",
                "IS_PAYLOAD_TRUNCATED": "false",
            }
            attributes = {key: {"DataType": "String", "StringValue": value} for key, value in facts.items()}
            self._dead_letters.send(self._body(scheduled, attempt), attributes=attributes)


def _text(scheduled: datetime) -> str:
    """Write a moment as Scheduler does: in UTC, whatever the schedule's zone."""
    return f"{scheduled.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
