"""What stops a run from outside: an alarm that goes off, a destination that does not keep up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.scan import count

#: Between two looks.
_BETWEEN = timedelta(seconds=10)


def brake(
    account: Any, waiting: Waiting, *, alarms: Sequence[str], backlog: int | None, urls: Sequence[str]
) -> Callable[[], str | None]:
    """Return a function that says why the run must stop now, or None; it asks AWS every ten seconds at most.

    The returned function raises ClientError or BotoCoreError when AWS refuses or cannot be reached.
    """
    next_look = waiting.now()

    def look() -> str | None:
        nonlocal next_look
        now = waiting.now()
        if now < next_look or not (alarms or backlog is not None):
            return None
        next_look = now + _BETWEEN
        if alarms and (ringing := _ringing(account, alarms)):
            return f"alarm {', '.join(ringing)} went off"
        for url in urls if backlog is not None else ():
            waiting_there = count(account.client("sqs"), url, "ApproximateNumberOfMessages")
            if backlog is not None and waiting_there > backlog:
                return f"{waiting_there} messages wait in {url.rpartition('/')[2]}, more than {backlog}"
        return None

    return look


def _ringing(account: Any, alarms: Sequence[str]) -> list[str]:
    answer = account.client("cloudwatch").describe_alarms(
        AlarmNames=list(alarms), AlarmTypes=["MetricAlarm", "CompositeAlarm"], StateValue="ALARM"
    )
    found = [*answer.get("MetricAlarms", ()), *answer.get("CompositeAlarms", ())]
    return [str(one["AlarmName"]) for one in found]
