"""What the alarms of one handler are about: its names and numbers, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from surehand import Handler
from surehand.declare import (
    dead_letter_queue_name,
    derived,
    max_receive_count,
    metrics_of,
    physical_name,
    queue_name,
)
from surehand.variables import NAMESPACE

from .signal import Insight, Metric
from .traffic import Rhythm, Traffic, rhythm

INSIGHTS_ARRIVE = 180
"""Seconds by which a Contributor Insights metric may be later than the metrics of the same minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One handler to watch. *mapping* is the event source mapping's id, *queue* the queue's name."""

    service: str
    stage: str
    handler: Handler[Any]
    queue: str
    mapping: str
    traffic: Traffic

    @staticmethod
    def of(
        handler: Handler[Any], *, service: str, stage: str, mapping: str, traffic: Traffic, queue: str | None = None
    ) -> Subject:
        """The handler with the names that infra derives for it."""
        name = queue or queue_name(service, stage, handler)
        return Subject(service=service, stage=stage, handler=handler, queue=name, mapping=mapping, traffic=traffic)

    @property
    def name(self) -> str:
        """``{service}-{stage}-{handler}``: the function's name, and the stem of every alarm's."""
        return physical_name(self.service, self.stage, self.handler.name)

    @property
    def dead_letters(self) -> str:
        """The dead-letter queue's name."""
        return dead_letter_queue_name(self.service, self.stage, self.handler)

    @property
    def insight_rule(self) -> str:
        """The Contributor Insights rule's name."""
        return f"{self.name}-failures"

    @property
    def rhythm(self) -> Rhythm:
        """The rhythm of rates."""
        return rhythm(self.traffic)

    @property
    def oldest(self) -> int:
        """Seconds that the oldest message may wait."""
        if self.traffic.oldest is not None:
            return _seconds(self.traffic.oldest)
        return max(300, 2 * _seconds(derived.visibility_timeout(self.handler)))

    @property
    def crowd(self) -> int:
        """Messages above which a growing queue is a backlog: ten batches, or two minutes of the usual load."""
        return max(100, 10 * self.handler.options.batch_size, math.ceil(2 * self.traffic.per_minute))

    @property
    def receives(self) -> int:
        """After how many receives SQS moves a message to the dead-letter queue."""
        return max_receive_count(self.handler)

    @property
    def timeout(self) -> int:
        """The function's timeout in seconds."""
        return _seconds(self.handler.options.timeout)

    @property
    def by_tenant(self) -> bool:
        """Whether failures can be told apart by tenant."""
        return self.handler.options.tenant is not None

    @property
    def dimensions(self) -> dict[str, str]:
        """The one dimension of the metrics that the run time writes for the handler."""
        return {"handler": metrics_of(self.service, self.stage, self.handler.name)}

    @property
    def source_dimensions(self) -> dict[str, str]:
        """The one dimension of the metrics that the ingress writes for the handler, a webhook source."""
        return {"source": metrics_of(self.service, self.stage, self.handler.name)}

    def own(self, id: str, name: str, *, stat: str = "Sum", period: int | None = None) -> Metric:
        """A metric that the run time writes."""
        return Metric(id, NAMESPACE, name, self.dimensions, stat, period or self.rhythm.period)

    def of_queue(self, id: str, name: str, stat: str, *, period: int = 60) -> Metric:
        """A metric of the source queue."""
        return Metric(id, "AWS/SQS", name, {"QueueName": self.queue}, stat, period)

    def of_dead_letters(self, id: str, name: str, stat: str, *, period: int = 60) -> Metric:
        """A metric of the dead-letter queue."""
        return Metric(id, "AWS/SQS", name, {"QueueName": self.dead_letters}, stat, period)

    def of_function(self, id: str, name: str, stat: str, *, period: int = 60) -> Metric:
        """A metric of the function."""
        return Metric(id, "AWS/Lambda", name, {"FunctionName": self.name}, stat, period)

    def of_mapping(self, id: str, name: str, *, period: int = 60) -> Metric:
        """An EventCount metric of the event source mapping."""
        return Metric(id, "AWS/Lambda", name, {"EventSourceMappingUUID": self.mapping}, "Sum", period)

    @property
    def insight_period(self) -> int:
        """Seconds over which contributors are counted."""
        return {60: 300, 300: 900}.get(self.rhythm.period, self.rhythm.period)

    def insight(self, id: str, what: Any) -> Insight:
        """A number from the rule that counts failures by code and tenant."""
        return Insight(id, self.insight_rule, what, self.insight_period)


def _seconds(length: timedelta) -> int:
    return math.ceil(length.total_seconds())
