"""What each alarm of the templates looks at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from surehand.variables import NAMESPACE

from .assembly import Assembly, once
from .shapes import dig, listed, whole
from .template import Resource, Unknown

ALARM = "AWS::CloudWatch::Alarm"
COMPOSITE = "AWS::CloudWatch::CompositeAlarm"
_CHILD = re.compile(r"(?:ALARM|OK|INSUFFICIENT_DATA)\(\s*\"?([^\")]+)\"?\s*\)")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of an alarm, by name and resolved dimensions; *expression* instead, when it is metric math."""

    namespace: str
    name: str
    dimensions: Mapping[str, Any]
    period: int
    expression: str = ""


@once
def _all_metrics(assembly: Assembly) -> dict[Resource, list[Metric]]:
    return {alarm: _metrics(assembly, alarm) for alarm in assembly.resources(ALARM)}


def metrics(assembly: Assembly, alarm: Resource) -> list[Metric]:
    """The metrics of a metric alarm, plain or in metric math. What cannot be read is left out."""
    return _all_metrics(assembly)[alarm]


def _metrics(assembly: Assembly, alarm: Resource) -> list[Metric]:
    properties = assembly.resolve(dict(alarm.properties), within=alarm.template)
    if not isinstance(properties, Mapping):
        return []
    if "MetricName" in properties:
        return [_metric(properties, properties)]
    found = []
    queries = properties.get("Metrics")
    for query in queries if isinstance(queries, list) else []:
        stat = dig(query, "MetricStat")
        if isinstance(stat, Mapping):
            found.append(_metric(stat.get("Metric"), stat))
        elif isinstance(query, Mapping):
            found.append(Metric("", "", {}, whole(query.get("Period")), str(query.get("Expression", ""))))
    return found


def _metric(metric: Any, stat: Mapping[str, Any]) -> Metric:
    dimensions = {str(dig(item, "Name")): dig(item, "Value") for item in listed(dig(metric, "Dimensions"))}
    namespace, name = (str(dig(metric, key) or "") for key in ("Namespace", "MetricName"))
    return Metric(namespace, name, dimensions, whole(stat.get("Period")))


def watchers(assembly: Assembly, resource: Resource, *names: str) -> Iterator[Resource]:
    """The alarms on one of the metrics *names* of *resource*."""
    for alarm in assembly.resources(ALARM):
        for metric in metrics(assembly, alarm):
            if metric.name in names and looks_at(assembly, metric, resource):
                yield alarm


def looks_at(assembly: Assembly, metric: Metric, resource: Resource) -> bool:
    """Whether a dimension of *metric* is *resource*, by reference or by its physical name."""
    names = [assembly.peek(resource, key) for key in ("QueueName", "FunctionName", "TableName", "Name")]
    literal = {name for name in names if isinstance(name, str)}
    return any(
        isinstance(value, str) and (assembly.target(value) is resource or value in literal)
        for value in metric.dimensions.values()
    )


def children(assembly: Assembly, composite: Resource) -> list[Resource | Unknown]:
    """The alarms that a composite's rule names, or why one cannot be found."""
    text = assembly.peek(composite, "AlarmRule")
    if isinstance(text, Unknown):
        return [text]
    return [_alarm(assembly, name) for name in _CHILD.findall(str(text))]


def _alarm(assembly: Assembly, name: str) -> Resource | Unknown:
    found = assembly.target(name)
    if isinstance(found, Resource):
        return found
    for alarm in assembly.resources(ALARM, COMPOSITE):
        if assembly.peek(alarm, "AlarmName") == name:
            return alarm
    return Unknown(f"alarm {name} is in none of these templates")


def alarms_of(assembly: Assembly, mine: set[Resource]) -> Iterator[Resource]:
    """The alarms that watch *mine* or surehand's own metrics, and the composites over them."""
    found: set[Resource] = set()
    for alarm in assembly.resources(ALARM):
        if any(
            metric.namespace == NAMESPACE or any(looks_at(assembly, metric, resource) for resource in mine)
            for metric in metrics(assembly, alarm)
        ):
            found.add(alarm)
    grew = True
    while grew:
        more = {c for c in assembly.resources(COMPOSITE) if c not in found and found & set(children(assembly, c))}
        found |= more
        grew = bool(more)
    yield from found


@once
def topics(assembly: Assembly) -> dict[Resource, list[Resource]]:
    """The SNS topics of the templates that alarms send to, each with its alarms."""
    found: dict[Resource, list[Resource]] = {}
    for alarm in assembly.resources(ALARM, COMPOSITE):
        for index in range(len(listed(alarm.properties.get("AlarmActions")))):
            topic = assembly.target(assembly.peek(alarm, "AlarmActions", index))
            if isinstance(topic, Resource) and topic.type == "AWS::SNS::Topic":
                found.setdefault(topic, []).append(alarm)
    return found
