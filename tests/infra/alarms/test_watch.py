"""The watch stack as it is synthesised: who is told, what each alarm says, what it costs, which rules it keeps."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_sns as sns

from handlers.service import SHOP
from surehand.aws import sweep_telling, telling, tick_metrics
from surehand.declare import metrics_of
from surehand.delivery import Unreadable
from surehand.outcomes import Outcome
from surehand.worker.endings import Ending
from surehand_cdk import ServiceConstruct
from surehand_cdk.watch import Profile, Traffic, Watch
from surehand_cdk.watch.runbook import ENTRIES
from surehand_cdk.watch.subject import Subject
from surehand_cdk.watch.ticks import Ticking, signals
from tests.infra.alarms.evaluator import Alarms
from tests.infra.alarms.rules_of_composites import names
from tests.infra.alarms.watched_service import SERVICE, busy
from tests.infra.synthesis import WITHOUT_CODE, Synthesis, new_app, synthesise

pytestmark = pytest.mark.infra


def alarms_of(synthesis: Synthesis) -> dict[str, Mapping[str, Any]]:
    found = Alarms.of(synthesis.templates["watch"])
    return {**found.metric, **found.composite}


def of_watch(synthesis: Synthesis, kind: str) -> list[Mapping[str, Any]]:
    resources = synthesis.templates["watch"]["Resources"].values()
    return [resource.get("Properties", {}) for resource in resources if resource["Type"] == kind]


@pytest.mark.parametrize("profile", ["full", "lean"])
def test_core_and_watch_stack_in_production_have_no_finding_in_any_layer(profile: str, request: pytest.FixtureRequest):
    assert request.getfixturevalue(profile).findings == ()


def test_the_profile_none_creates_nothing():
    app = new_app(**WITHOUT_CODE)
    core = ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage="dev", protect=False)
    Watch(Stack(app, "watch"), "Watch", core, profile="none")
    result = synthesise(app)
    shutil.rmtree(result.directory)

    assert result.templates["watch"].get("Resources", {}) == {}


@pytest.mark.parametrize(
    ("stage", "profile"), [("dev", "lean"), ("staging", "lean"), ("prod", "full"), ("live", "full")]
)
def test_the_profile_follows_the_stage_unless_one_is_chosen(stage: str, profile: str):
    app = new_app(**WITHOUT_CODE)
    core = ServiceConstruct(Stack(app, "core"), "Service", SERVICE, stage=stage)

    assert Watch(Stack(app, "watch"), "Watch", core).profile == profile


@pytest.mark.parametrize("profile", ["full", "lean"])
class TestEveryAlarm:
    @pytest.fixture
    def alarms(self, profile: str, request: pytest.FixtureRequest) -> dict[str, Mapping[str, Any]]:
        return alarms_of(request.getfixturevalue(profile))

    def test_says_what_missing_data_means(self, alarms: dict[str, Mapping[str, Any]]):
        assert all("TreatMissingData" in alarm for alarm in alarms.values() if "AlarmRule" not in alarm)

    def test_has_an_action_or_feeds_an_alarm_that_has(self, alarms: dict[str, Mapping[str, Any]]):
        fed = {part for alarm in alarms.values() for part in names(alarm.get("AlarmRule", ""))}

        assert {name for name, alarm in alarms.items() if not alarm.get("AlarmActions")} <= fed

    def test_links_to_a_heading_of_the_runbook_and_carries_a_command(self, alarms: dict[str, Mapping[str, Any]]):
        for name, alarm in alarms.items():
            text = json.dumps(alarm["AlarmDescription"])
            heading = re.search(r"docs/runbook\.md#([a-z-]+)", text)
            assert heading is not None
            assert name.endswith(heading[1])
            assert heading[1] in ENTRIES
            assert "`" in text

    def test_fits_into_what_cloudwatch_takes(self, alarms: dict[str, Mapping[str, Any]]):
        for alarm in alarms.values():
            assert len(json.dumps(alarm["AlarmDescription"])) <= 1_024
            assert len(alarm.get("AlarmRule", "")) <= 10_240

    def test_that_may_notify_does_so_through_the_encrypted_topic(self, alarms: dict[str, Mapping[str, Any]]):
        actions = {json.dumps(action) for alarm in alarms.values() for action in alarm.get("AlarmActions", [])}

        assert len(actions) == 1


def test_only_causes_and_what_needs_no_explanation_page_by_themselves(full: Synthesis):
    causes = {"provider-outage", "code-regression", "data-repair", "poison", "backlog", "stuck"}
    tickets_and_pages = {
        "recursion", "throttles", "near-timeout", "concurrency-saturation", "noisy-tenant",
        "dlq-expiring", "dlq-not-empty", "dlq-stale",
        "sched-late", "sched-undelivered",
        "ledger-throttled", "ledger-hot-key", "ledger-errors",
        "webhook-mismatch", "webhook-silence", "webhook-not-stored", "webhook-errors", "webhook-slow",
    }  # fmt: skip

    told = {name for name, alarm in alarms_of(full).items() if alarm.get("AlarmActions")}

    assert all(name.endswith(tuple(causes | tickets_and_pages)) for name in told)


def test_the_topic_is_encrypted_with_a_key_that_cloudwatch_may_use_and_refuses_plain_text(full: Synthesis):
    (topic,) = of_watch(full, "AWS::SNS::Topic")
    (key,) = of_watch(full, "AWS::KMS::Key")
    (policy,) = of_watch(full, "AWS::SNS::TopicPolicy")
    services = [s["Principal"].get("Service") for s in key["KeyPolicy"]["Statement"]]

    assert "KmsMasterKeyId" in topic
    assert "cloudwatch.amazonaws.com" in services
    assert key["EnableKeyRotation"] is True
    assert any(s["Effect"] == "Deny" for s in policy["PolicyDocument"]["Statement"])


def test_no_output_of_the_core_stack_but_the_mappings_ids_is_needed(full: Synthesis):
    text = json.dumps(full.templates["watch"])
    imports = set(re.findall(r'"(?:Fn::ImportValue|OutputName)": "([^"]+)"', text))

    assert imports
    assert all("Mapping" in name for name in imports)


def test_a_lean_watch_reads_no_metric_of_ours_and_costs_a_fraction(lean: Synthesis, full: Synthesis):
    namespaces = set(re.findall(r'"Namespace": "([^"]+)"', json.dumps(lean.templates["watch"]["Resources"])))

    assert "surehand" not in namespaces
    assert cost(lean) < cost(full) / 3


def cost(synthesis: Synthesis) -> float:
    (output,) = [o["Value"] for o in synthesis.templates["watch"]["Outputs"].values() if "a month" in str(o["Value"])]
    found = re.match(r"about \$([0-9.]+) a month", output)
    assert found is not None
    return float(found[1])


def test_the_cost_is_what_the_template_comes_to(full: Synthesis):
    alarms = alarms_of(full).values()
    billed = sum(
        1
        for alarm in alarms
        for query in alarm.get("Metrics", [])
        if "MetricStat" in query or "INSIGHT_RULE_METRIC" in query.get("Expression", "")
    )
    composites = sum("AlarmRule" in alarm for alarm in alarms)
    insights = len(of_watch(full, "AWS::CloudWatch::InsightRule"))

    assert cost(full) == pytest.approx(0.1 * billed + 0.5 * composites + 0.5 * insights + 3 + 1)


def own_metrics(synthesis: Synthesis) -> set[tuple[str, str]]:
    text = synthesis.templates["watch"]["Resources"].values()
    return {
        (stat["Metric"]["MetricName"], dimension["Name"])
        for resource in text
        for query in resource["Properties"].get("Metrics", [])
        if (stat := query.get("MetricStat")) and stat["Metric"]["Namespace"] == "surehand"
        for dimension in stat["Metric"]["Dimensions"]
    }


def test_the_alarms_read_the_namespace_and_dimension_that_the_run_time_writes(watch: Synthesis):
    now = datetime(2026, 11, 29, tzinfo=UTC)
    delivery = Unreadable(message_id="m1", receipt_handle=None, receive_count=1, group=None, problem="body")
    ending = Ending(index=0, delivery=delivery, outcome=Outcome.REJECTED, phase="parse")
    (record,) = telling.metrics(busy, [ending], now, dimension=metrics_of("shop", "dev", busy.name))
    (directive,) = record["_aws"]["CloudWatchMetrics"]

    assert directive["Namespace"] == "surehand"
    assert directive["Dimensions"] == [["handler"]]
    assert record["handler"] == Subject.of(busy, service="shop", stage="dev", mapping="m", traffic=Traffic()).name
    assert {dimension for _, dimension in own_metrics(watch)} == {"handler"}


def test_every_metric_that_the_alarms_read_is_one_that_the_run_time_writes(watch: Synthesis):
    source = (telling.__file__, tick_metrics.__file__, sweep_telling.__file__)
    written = " ".join(Path(path).read_text(encoding="utf-8") for path in source)

    read = {name for name, _ in own_metrics(watch)}

    assert {name for name in read if f'"{name}"' not in written} == set()


def test_the_insight_rule_reads_the_fields_of_a_delivery_line(watch: Synthesis):
    line = telling.CloudWatchTeller(service="shop", stage="dev", version="1")._line.__code__.co_consts
    fields = {name for constant in line if isinstance(constant, tuple) for name in constant if isinstance(name, str)}
    fields |= {constant for constant in line if isinstance(constant, str)}
    rules = of_watch(watch, "AWS::CloudWatch::InsightRule")

    for rule in rules:
        body = json.loads(rule["RuleBody"])
        asked = [*body["Contribution"]["Keys"], *(f["Match"] for f in body["Contribution"]["Filters"])]
        assert {name.removeprefix("$.") for name in asked} <= fields
    assert len(rules) == 3


class TestTraffic:
    def periods(self, watch: Synthesis, handler: str, signal: str) -> int:
        (alarm,) = [a for n, a in alarms_of(watch).items() if n == f"shop-dev-{handler}-{signal}"]
        return int(alarm["Metrics"][0]["MetricStat"]["Period"])

    def test_rates_of_quiet_handlers_are_taken_over_longer_periods(self, watch: Synthesis):
        assert [self.periods(watch, h, "code-rate") for h in ("busy", "quiet", "rare")] == [60, 300, 1800]

    @pytest.mark.parametrize("wrong", [{"per_minute": 0}, {"per_minute": -1}, {"silent_after": timedelta(minutes=90)}])
    def test_impossible_traffic_is_refused(self, wrong: dict[str, Any]):
        with pytest.raises(ValueError, match="Traffic"):
            Traffic(**wrong)

    def test_traffic_of_a_handler_of_another_service_is_refused(self):
        app = new_app(**WITHOUT_CODE)
        core = ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage="dev", protect=False)

        with pytest.raises(ValueError, match="not in service 'shop'"):
            Watch(Stack(app, "watch"), "Watch", core, traffic={busy: Traffic()})


def test_a_notification_outlasts_the_wait_for_its_explanation(watch: Synthesis):
    """An alarm that is over before its suppressor's wait has ended would tell nobody."""
    alarms = alarms_of(watch)
    for name, cause in alarms.items():
        wait = cause.get("ActionsSuppressorWaitPeriod", 0)
        for part in names(cause.get("AlarmRule", "")) if name.endswith(("poison", "data-repair")) else ():
            if part.endswith(("dlq-arrivals", "data-count")):
                signal = alarms[part]
                assert 60 * signal["EvaluationPeriods"] > wait


def test_a_schedule_that_ticks_too_rarely_for_cloudwatch_has_no_heartbeat_that_would_lie():
    subject = Subject.of(busy, service="s", stage="dev", mapping="m", traffic=Traffic())
    weekly, nightly = (
        {signal.name for signal in signals(subject, Ticking(every, "g"))} for every in (timedelta(7), timedelta(1))
    )

    assert nightly == {"sched-dropped", "sched-late", "sched-missed", "sched-unfinished"}
    assert weekly == {"sched-dropped", "sched-late"}


def test_a_users_own_topics_are_used_and_none_is_created():
    app = new_app(**WITHOUT_CODE)
    core = ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage="dev", protect=False)
    stack = Stack(app, "watch")
    pages, tickets = sns.Topic(stack, "Pages"), sns.Topic(stack, "Tickets")
    Watch(stack, "Watch", core, profile="full", topic=pages, tickets=tickets)
    result = synthesise(app)
    shutil.rmtree(result.directory)
    alarms = alarms_of(result)

    assert len(of_watch(result, "AWS::SNS::Topic")) == 2
    assert alarms["shop-dev-orders-poison"]["AlarmActions"] != alarms["shop-dev-orders-dlq-not-empty"]["AlarmActions"]


def test_the_dashboard_shows_each_handler_and_the_ledger(full: Synthesis):
    (board,) = of_watch(full, "AWS::CloudWatch::Dashboard")
    text = json.dumps(board["DashboardBody"])

    for handler in SHOP.handlers:
        assert f"## {handler.name}" in text
    for title in ("What is wrong", "Depth", "Age of the oldest message", "Outcomes by class", "Attempts",
                  "Duration of one attempt", "Dead letters", "Function", "## ledger", "Throttled, failed"):  # fmt: skip
        assert title in text


def test_the_profiles_are_three() -> None:
    assert [profile.value for profile in Profile] == ["full", "lean", "none"]
