"""The watch stack's construct: alarms that name the cause, their topic, a dashboard, and what it all costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import CfnOutput
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from surehand import Handler
from surehand.declare import derived, physical_name, table_name
from surehand.declare.ingress import INGRESS
from surehand_cdk.service import ServiceConstruct

from . import ledger, webhooks
from .alarm import composite_alarm, metric_alarm
from .causes import Cause, causes
from .cost import Cost
from .dashboard import dashboard
from .insight import failure_rule
from .profile import Profile, full, lean, of_stage, stuck_signals
from .runbook import DEFAULT_PAGE, Names, description
from .schedules import ticking
from .signal import Signal
from .subject import Subject
from .ticks import Ticking, undelivered
from .topic import alarm_topic
from .traffic import Traffic


class Watch(Construct):
    """Watches a service, from a stack of its own: it can change or go without touching a queue.

    Args:
        watched: The service. Its resources are referred to by their derived names.
        profile: "full" (signals, causes, dashboard), "lean" (plain alarms that notify by themselves, no metrics of
            ours) or "none". Default: "full" where data is real (stage "prod", "production" or "live"), else "lean".
        traffic: Handler → its usual load, which periods and thresholds follow. Default: 4 messages a minute.
        topic: Where alarms go. Default: an encrypted topic of this construct, see `topic`.
        tickets: Where what can wait until morning goes. Default: the same topic.
        runbook: Address of docs/runbook.md, as the alarms' descriptions link to it.

    Raises:
        ValueError: *profile* is none of the three, or *traffic* names a handler of another service.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        watched: ServiceConstruct,
        *,
        profile: Profile | str | None = None,
        traffic: Mapping[Handler[Any], Traffic] | None = None,
        topic: sns.ITopic | None = None,
        tickets: sns.ITopic | None = None,
        runbook: str = DEFAULT_PAGE,
    ) -> None:
        super().__init__(scope, id)
        self.profile = of_stage(watched.stage) if profile is None else Profile(profile)
        self.watched = watched
        self.topic = topic
        self._runbook = runbook
        self._stem = f"{watched.service.name}-{watched.stage}"
        self._alarms: dict[str, cloudwatch.CfnAlarm | cloudwatch.CfnCompositeAlarm] = {}
        self._counts = {"metrics": 0, "composites": 0, "insight_rules": 0}
        self._refuse_strangers(traffic or {})
        if self.profile is Profile.NONE:
            return
        if topic is None:
            self.topic = alarm_topic(self, "Topic", name=f"{self._stem}-alarms")
        assert self.topic is not None  # noqa: S101 - set just above
        self._pages = [self.topic.topic_arn]
        self._tickets = [(tickets or self.topic).topic_arn]
        self._ingress = physical_name(watched.service.name, watched.stage, INGRESS)
        self._table = table_name(watched.service.name, watched.stage)
        self.subjects = [self._subject(handler, traffic or {}) for handler in watched.service.handlers]
        self._ticking = self._schedules()
        self._watch_service()
        self._watch_ingress()
        for subject in self.subjects:
            self._watch_handler(Construct(self, subject.handler.name), subject)
        if self.profile is Profile.FULL:
            self.dashboard = dashboard(
                self,
                name=self._stem,
                subjects=self.subjects,
                causes=self._notifying(),
                table=self._table,
                ticking=self._ticking,
            )
        self._tell_cost(own_topic=topic is None)

    def _refuse_strangers(self, traffic: Mapping[Handler[Any], Traffic]) -> None:
        for handler in traffic:
            if handler not in self.watched.service.handlers:
                raise ValueError(f"traffic= names {handler!r}, which is not in service '{self.watched.service.name}'.")

    def _subject(self, handler: Handler[Any], traffic: Mapping[Handler[Any], Traffic]) -> Subject:
        resources = self.watched[handler]
        # An adopted queue has its own name; for ours the derived one is taken, which needs no reference between stacks.
        adopted = not isinstance(resources.queue, sqs.Queue)
        return Subject.of(
            handler,
            service=self.watched.service.name,
            stage=self.watched.stage,
            mapping=resources.mapping.event_source_mapping_id,
            traffic=traffic.get(handler, Traffic()),
            queue=resources.queue.queue_name if adopted else None,
        )

    def _schedules(self) -> dict[str, Ticking]:
        name = derived.schedule_group_name(self.watched.service.name, self.watched.stage)
        found = {subject.handler.name: ticking(subject.handler, group=name) for subject in self.subjects}
        return {handler: schedule for handler, schedule in found.items() if schedule is not None}

    def _watch_service(self) -> None:
        signals = ledger.signals(self._table) if self.profile is Profile.FULL else (ledger.throttled(self._table),)
        place = Construct(self, "Ledger")
        names = Names(stage=self.watched.stage, table=self._table)
        for signal in signals:
            self._add(place, signal, name=f"{self._stem}-{signal.name}", names=names)
        if self._ticking:
            letters = derived.tick_dead_letter_queue_name(self.watched.service.name, self.watched.stage)
            signal = undelivered(letters)
            names = Names(stage=self.watched.stage, dlq=letters)
            self._add(Construct(self, "Schedules"), signal, name=f"{self._stem}-{signal.name}", names=names)

    def _watch_ingress(self) -> None:
        if any(handler.trigger == "webhook" for handler in self.watched.service.handlers):
            place = Construct(self, "Ingress")
            names = Names(stage=self.watched.stage, ingress=self._ingress)
            for signal in webhooks.ingress(self._ingress):
                self._add(place, signal, name=f"{self._stem}-{signal.name}", names=names)

    def _watch_handler(self, place: Construct, subject: Subject) -> None:
        schedule = self._ticking.get(subject.handler.name)
        names = Names(
            stage=self.watched.stage,
            handler=subject.handler.name,
            function=subject.name,
            queue=subject.queue,
            dlq=subject.dead_letters,
            table=self._table,
            mapping=subject.mapping,
            group=schedule.group if schedule is not None else "",
            ingress=self._ingress,
        )
        if self.profile is Profile.LEAN:
            for signal in lean(subject, ticking=schedule):
                self._add(place, signal, name=f"{subject.name}-{signal.name}", names=names)
            return
        signals = full(subject, ticking=schedule, swept=bool(self.watched.sweep and self.watched.sweep.enabled))
        for signal in signals:
            alarm = self._add(place, signal, name=f"{subject.name}-{signal.name}", names=names)
            if signal.name == "concentrated":
                alarm.add_resource_dependency(failure_rule(place, subject))
                self._counts["insight_rules"] += 1
        for cause in causes(subject, stuck=stuck_signals(signals)):
            self._compose(place, subject, cause, names)

    def _add(self, place: Construct, signal: Signal, *, name: str, names: Names) -> cloudwatch.CfnAlarm:
        actions = {"cause": [], "page": self._pages, "ticket": self._tickets}[signal.duty]
        text = description(signal.name, names, page=self._runbook)
        alarm = metric_alarm(place, signal, name=name, text=text, actions=actions)
        self._alarms[name] = alarm
        self._counts["metrics"] += signal.billed
        return alarm

    def _compose(self, place: Construct, subject: Subject, cause: Cause, names: Names) -> None:
        def alarm(part: str) -> str:
            stem = self._stem if part.startswith("ledger-") else subject.name
            return f"{stem}-{part}"

        name = f"{subject.name}-{cause.name}"
        self._alarms[name] = composite_alarm(
            place,
            cause,
            name=name,
            text=description(cause.name, names, page=self._runbook),
            actions=self._pages,
            alarm=alarm,
            resources={part: self._alarms[alarm(part)] for part in (*cause.parts, *_listed(cause.suppressor))},
        )
        self._counts["composites"] += 1

    def _notifying(self) -> list[cloudwatch.IAlarm]:
        return [
            cloudwatch.Alarm.from_alarm_arn(self, f"Shown{index}", alarm.attr_arn)
            for index, alarm in enumerate(self._alarms.values())
            if alarm.alarm_actions == self._pages
        ]

    def _tell_cost(self, *, own_topic: bool) -> None:
        self.cost = Cost(
            **self._counts,
            handlers=len(self.subjects),
            dashboards=1 if self.profile is Profile.FULL else 0,
            keys=1 if own_topic else 0,
        )
        CfnOutput(self, "MonthlyCost", value=self.cost.text, description="What this watch stack costs")


def _listed(name: str | None) -> Sequence[str]:
    return () if name is None else (name,)
