"""CloudWatch alarms, evaluated from the synthesised template: metric math, M of N, missing data, composites.

Every alarm is evaluated each minute, and a period longer than a minute slides (SlidingWindow, CloudWatch's default).
Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html (M of N, missing data) and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Create_Composite_Alarm.html (suppressors).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.infra.alarms.expression import Series, evaluate
from tests.infra.alarms.metrics import Key, Recorded
from tests.infra.alarms.rules_of_composites import compiled, names

_INSIGHT = re.compile(r'INSIGHT_RULE_METRIC\("([^"]+)", "([^"]+)"\)')
#: How many points beyond the evaluation periods CloudWatch looks at when some are missing.
_FURTHER_BACK = 2
_COMPARE = {"GreaterThanThreshold": lambda a, b: a > b, "LessThanThreshold": lambda a, b: a < b}

Properties = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """An alarm that turned red and told somebody."""

    minute: int
    alarm: str


@dataclass(frozen=True, slots=True)
class Alarms:
    """The alarms of a template, by name."""

    metric: Mapping[str, Properties]
    composite: Mapping[str, Properties]

    @staticmethod
    def of(template: Mapping[str, Any]) -> Alarms:
        """Read the alarms of *template*. Composites are sorted so that each comes after those that it names."""
        found: dict[str, dict[str, Properties]] = {"Alarm": {}, "CompositeAlarm": {}}
        for resource in template["Resources"].values():
            kind = resource["Type"].rpartition("::")[2]
            if resource["Type"].startswith("AWS::CloudWatch::") and kind in found:
                found[kind][resource["Properties"]["AlarmName"]] = resource["Properties"]
        return Alarms(metric=found["Alarm"], composite=_sorted(found["CompositeAlarm"]))

    def starting_with(self, *prefixes: str) -> Alarms:
        """Only the alarms whose names start with one of *prefixes*."""
        return Alarms(
            metric={n: p for n, p in self.metric.items() if n.startswith(prefixes)},
            composite={n: p for n, p in self.composite.items() if n.startswith(prefixes)},
        )


def _sorted(composites: dict[str, Properties]) -> dict[str, Properties]:
    found: dict[str, Properties] = {}
    while len(found) < len(composites):
        ready = {
            name: properties
            for name, properties in composites.items()
            if name not in found and all(n in found for n in names(properties["AlarmRule"]) if n in composites)
        }
        if not ready:
            raise ValueError("composite alarms name each other in a circle")
        found |= ready
    return found


def states(alarms: Alarms, recorded: Recorded) -> dict[str, list[bool]]:
    """For each alarm, whether it is in state ALARM at each minute."""
    red = {name: _metric_states(properties, recorded) for name, properties in alarms.metric.items()}
    for name, properties in alarms.composite.items():
        test, parts = compiled(properties["AlarmRule"]), names(properties["AlarmRule"])
        red[name] = [test({part: red[part][minute] for part in parts}) for minute in range(recorded.minutes)]
    return red


def notifications(alarms: Alarms, red: Mapping[str, list[bool]]) -> list[Notification]:
    """Who was told when: each change to ALARM of an alarm with actions, unless its suppressor kept it quiet."""
    found: list[Notification] = []
    for name, properties in {**alarms.metric, **alarms.composite}.items():
        if properties.get("AlarmActions"):
            found += [Notification(minute, name) for minute in _told(properties, red[name], red)]
    return sorted(found, key=lambda told: (told.minute, told.alarm))


def _told(properties: Properties, own: list[bool], red: Mapping[str, list[bool]]) -> list[int]:
    suppressor = red.get(str(properties.get("ActionsSuppressor")))
    if suppressor is None:
        return [minute for minute, on in enumerate(own) if on and not (minute and own[minute - 1])]
    wait = -(-int(properties["ActionsSuppressorWaitPeriod"]) // 60)
    extension = -(-int(properties["ActionsSuppressorExtensionPeriod"]) // 60)
    found: list[int] = []
    due: int | None = None  # the minute at which it will tell, unless something happens before
    told = False
    for minute, on in enumerate(own):
        if not on:
            due, told = None, False
            continue
        if suppressor[minute]:
            due = minute + 1 + extension
        elif due is None and not told:
            due = minute + wait
        if not told and due is not None and minute >= due and not suppressor[minute]:
            found.append(minute)
            told, due = True, None
    return found


def _metric_states(properties: Properties, recorded: Recorded) -> list[bool]:
    series, period = _result(properties, recorded)
    width = period // 60
    wanted, enough = int(properties["EvaluationPeriods"]), int(properties["DatapointsToAlarm"])
    compare = _COMPARE[properties["ComparisonOperator"]]
    missing = properties["TreatMissingData"]
    found = []
    for minute in range(len(series)):
        points = [series[at] if (at := minute - back * width) >= 0 else None for back in range(wanted + _FURTHER_BACK)]
        real = [value for value in points if value is not None]
        if len(real) >= wanted:
            breaching = sum(compare(value, properties["Threshold"]) for value in real[:wanted])
        else:
            breaching = sum(
                missing == "breaching" if value is None else compare(value, properties["Threshold"])
                for value in points[:wanted]
            )
        found.append(breaching >= enough)
    return found


def _result(properties: Properties, recorded: Recorded) -> tuple[Series, int]:
    series: dict[str, Series] = {}
    result, period = "", 60
    for query in properties["Metrics"]:
        stat, expression = query.get("MetricStat"), query.get("Expression", "")
        insight = _INSIGHT.fullmatch(expression)
        if stat:
            period = int(stat["Period"])
            metric = stat["Metric"]
            (dimension,) = metric["Dimensions"]
            key = Key(metric["Namespace"], metric["MetricName"], _name(dimension["Value"]))
            series[query["Id"]] = recorded.series(key, stat["Stat"], period)
        elif insight:
            period = int(query["Period"])
            series[query["Id"]] = recorded.insight(insight[1], insight[2], period)
        else:
            if period > 60 and ("DIFF" in expression or "REPEAT" in expression):
                raise ValueError("DIFF and REPEAT are evaluated here over minutes only")
            series[query["Id"]] = evaluate(expression, series)
        if query.get("ReturnData"):
            result = query["Id"]
    return series[result], period


def _name(value: Any) -> str:
    """A dimension's value; a reference to the core stack stands for the mapping's id."""
    return value if isinstance(value, str) else "mapping"
