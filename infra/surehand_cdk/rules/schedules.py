"""Schedules: a tick is delivered to the handler's queue, names its moment, and its loss is visible."""

from __future__ import annotations

import re
from collections.abc import Iterator

from surehand.declare import cron, shortest_gap
from surehand.errors import DeclarationError

from . import sources
from .assembly import Assembly, location
from .consumption import QUEUE, is_fifo
from .ownership import SCHEDULE
from .rule import Level, Scope, Verdict, refuse, rule
from .shapes import dig, whole
from .template import Edit, Resource

MOST_RETRIES = 5
SHORTEST_AGE = 60
_MOMENT = "<aws.scheduler.scheduled-time>"
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}
_DAY = 86_400


def _schedules(a: Assembly) -> Iterator[Resource]:
    return a.resources(SCHEDULE)


def period(expression: str) -> int | None:
    """The shortest time between two ticks in seconds; None for a one-time schedule, and for what cannot be read."""
    rate = _RATE.fullmatch(expression.strip())
    if rate:
        return int(rate[1]) * _SECONDS[rate[2]]
    text = expression.strip().removeprefix("cron(").removesuffix(")")
    try:
        gap = shortest_gap(cron(text))
    except DeclarationError:
        return None
    return None if gap is None else int(gap.total_seconds())


def _dead_letters(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    at = ("Target", "DeadLetterConfig", "Arn")
    arn = a.value(schedule, *at)
    if arn is None:
        id = f"{schedule.id}DeadLetters"
        yield refuse(
            schedule,
            location(*at),
            "no dead-letter queue: a tick that could not be delivered is dropped",
            fix="dead_letter_queue= a standard queue on the schedule's target",
            edits=[
                Edit(
                    template=schedule.template,
                    path=("Resources", id),
                    value={
                        "Type": QUEUE,
                        "Properties": {"MessageRetentionPeriod": 1_209_600, "SqsManagedSseEnabled": True},
                    },
                ),
                schedule.put(*at, value={"Fn::GetAtt": [id, "Arn"]}),
            ],
        )
        return
    letters = a.known_target(schedule, *at)
    if is_fifo(a, letters):
        yield refuse(
            schedule,
            location(*at),
            f"its dead-letter queue {letters.id} is FIFO, which Scheduler does not support",
            fix=f"make {letters.id} a standard queue",
            edits=[letters.drop("FifoQueue")],
        )


def _bounded_retry(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    every = period(str(a.value(schedule, "ScheduleExpression")))
    attempts = a.number(schedule, "Target", "RetryPolicy", "MaximumRetryAttempts", default=185)
    age = a.number(schedule, "Target", "RetryPolicy", "MaximumEventAgeInSeconds", default=_DAY)
    longest = max(SHORTEST_AGE, min(_DAY, (every or _DAY + 1) - 1))
    if attempts > MOST_RETRIES or age > longest:
        wanted = {
            "MaximumRetryAttempts": min(attempts, MOST_RETRIES),
            "MaximumEventAgeInSeconds": max(SHORTEST_AGE, min(age, longest // 2)),
        }
        yield refuse(
            schedule,
            location("Target", "RetryPolicy"),
            f"{attempts} retries over {age} s, and the next tick comes after {every or 'no'} s",
            fix=f"retry_attempts={wanted['MaximumRetryAttempts']}, "
            f"max_event_age=Duration.seconds({wanted['MaximumEventAgeInSeconds']})",
            edits=[schedule.put("Target", "RetryPolicy", value=wanted)],
        )


def _zone_and_window(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    expression = str(a.value(schedule, "ScheduleExpression"))
    if expression.startswith("cron(") and not a.value(schedule, "ScheduleExpressionTimezone"):
        yield refuse(
            schedule,
            location("ScheduleExpressionTimezone"),
            "a cron expression without a time zone",
            fix='cron(..., timezone="UTC"), said out loud',
            edits=[schedule.put("ScheduleExpressionTimezone", value="UTC")],
        )
    window = a.value(schedule, "FlexibleTimeWindow") or {}
    minutes = whole(dig(window, "MaximumWindowInMinutes")) if dig(window, "Mode") == "FLEXIBLE" else 0
    every = period(expression)
    if every is not None and minutes * 60 >= every:
        yield refuse(
            schedule,
            location("FlexibleTimeWindow"),
            f"a flexible window of {minutes} min, and a tick every {every} s",
            fix="flexible time window OFF",
            edits=[schedule.put("FlexibleTimeWindow", value={"Mode": "OFF"})],
        )


def _own_group(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    group = a.value(schedule, "GroupName")
    if group in (None, "default"):
        id = f"{schedule.id}Group"
        yield refuse(
            schedule,
            location("GroupName"),
            "in the account's default group, whose metrics mix every schedule of the account",
            fix="schedule_group=ScheduleGroup(self, ...)",
            edits=[
                Edit(
                    template=schedule.template,
                    path=("Resources", id),
                    value={"Type": "AWS::Scheduler::ScheduleGroup", "Properties": {}},
                ),
                schedule.put("GroupName", value={"Ref": id}),
            ],
        )


def _names_its_moment(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    text = str(a.value(schedule, "Target", "Input"))
    if _MOMENT not in text:
        yield refuse(
            schedule,
            location("Target", "Input"),
            f"its message does not carry {_MOMENT}, so a tick that is delivered twice runs twice",
            fix=f'Input: {{"at": "{_MOMENT}"}} as surehand_cdk writes it',
            edits=[schedule.put("Target", "Input", value=f'{{"at": "{_MOMENT}"}}')],
        )


def _to_the_queue(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    arn = a.value(schedule, "Target", "Arn")
    function = a.function(arn)
    if isinstance(function, Resource) and function.type == "AWS::Lambda::Function":
        yield refuse(
            schedule,
            location("Target", "Arn"),
            f"invokes {function.construct_path} directly, past its queue: no ledger, no retry of ours, no dead letter",
            fix="let Scheduler send to the handler's queue",
        )
        return
    grouped = a.value(schedule, "Target", "SqsParameters", "MessageGroupId")
    if isinstance(function, Resource) and is_fifo(a, function) and not grouped:
        yield refuse(
            schedule,
            location("Target", "SqsParameters"),
            f"sends to the FIFO queue {function.id} without a message group",
            fix="SqsParameters: {MessageGroupId: tick}",
            edits=[schedule.put("Target", "SqsParameters", value={"MessageGroupId": "tick"})],
        )


RULES = (
    rule(
        "S01", "A schedule has a standard dead-letter queue", scope=Scope.ANY,
        why="Scheduler drops what it cannot deliver, and only a queue keeps it",
        fix="DeadLetterConfig with a standard queue",
        source=sources.SCHEDULER_DEAD_LETTERS, over=_schedules, judge=_dead_letters,
    ),
    rule(
        "S02", "A schedule's retries end before its next tick", scope=Scope.ANY,
        why="the default retries 185 times over 24 hours: yesterday's run starts during today's",
        fix="MaximumRetryAttempts <= 5, MaximumEventAgeInSeconds < time between ticks",
        source=sources.SCHEDULER_RETRY, over=_schedules, judge=_bounded_retry,
    ),
    rule(
        "S03", "A schedule says its time zone, and its window is shorter than its period", level=Level.WARNING,
        scope=Scope.ANY,
        why="clocks change twice a year, and a window as long as the period reorders ticks",
        fix="ScheduleExpressionTimezone on cron; FlexibleTimeWindow OFF",
        source=sources.SCHEDULER_TYPES, over=_schedules, judge=_zone_and_window,
    ),
    rule(
        "S04", "A schedule is in a group of its own service",
        why="Scheduler's metrics exist per group only",
        fix="a ScheduleGroup for the service",
        source=sources.SCHEDULER_GROUPS, over=_schedules, judge=_own_group,
    ),
    rule(
        "S06", "A tick names the moment it stands for",
        why="delivery is at least once; the scheduled time is the only key that both deliveries share",
        fix="<aws.scheduler.scheduled-time> in the target's Input",
        source=sources.SCHEDULER_CONTEXT, over=_schedules, judge=_names_its_moment,
    ),
    rule(
        "S07", "A tick goes to the handler's queue",
        why="an invocation past the queue has none of the guarantees",
        fix="Target.Arn = the queue's ARN, with a message group on FIFO",
        source=sources.SCHEDULER_TARGETS, over=_schedules, judge=_to_the_queue,
    ),
)  # fmt: skip
