"""Stages and services of one account and Region: what their functions write, their own alarms alone read."""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from handlers.service import SHOP
from surehand import entrypoint, ingress
from surehand.aws.sweep import Report
from surehand.aws.sweep_telling import lines
from surehand.declare.sweeping import Task
from surehand.delivery import Unreadable
from surehand.outcomes import Outcome
from surehand.webhooks.secrets import SecretCache, SecretVersion
from surehand.worker.endings import Ending
from surehand_cdk.watch import Traffic
from surehand_cdk.watch.profile import full as signals_of
from surehand_cdk.watch.signal import Metric
from surehand_cdk.watch.subject import Subject
from surehand_cdk.watch.ticks import Ticking
from surehand_cli.inventory.contract import inventory
from tests.infra.synthesis import Synthesis

pytestmark = pytest.mark.infra

NOW = datetime(2026, 11, 29, tzinfo=UTC)


UNREADABLE = Unreadable(message_id="1", receipt_handle=None, receive_count=1, group=None, problem="body")
#: A metric of ours, apart from its name: the dimension and its value.
Series = tuple[str, str]


def read(template: Mapping[str, Any]) -> set[Series]:
    """What the alarms and the dashboard of a watch stack ask for."""
    found = set()
    for resource in template["Resources"].values():
        for query in resource["Properties"].get("Metrics", []):
            metric = query.get("MetricStat", {}).get("Metric", {})
            if metric.get("Namespace") == "surehand":
                (dimension,) = metric["Dimensions"]
                found.add((dimension["Name"], dimension["Value"]))
        if resource["Type"] == "AWS::CloudWatch::Dashboard":
            text = json.dumps(resource["Properties"]["DashboardBody"]).replace("\\", "")
            found |= set(re.findall(r'"surehand","\w+","(\w+)","([^"]+)"', text))
    return found


def environments(template: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The variables of each function by its `Handler`; a reference stands for itself as some text."""
    functions = [r["Properties"] for r in template["Resources"].values() if r["Type"] == "AWS::Lambda::Function"]
    return {
        function["Handler"]: {
            name: value if isinstance(value, str) else "https://sqs.eu-west-1.amazonaws.com/123456789012/some"
            for name, value in function["Environment"]["Variables"].items()
        }
        for function in functions
        if "SUREHAND_SERVICE" in function.get("Environment", {}).get("Variables", {})
    }


def request(path: str) -> dict[str, Any]:
    """A request without a signature."""
    http = {"method": "POST", "path": path}
    return {
        "version": "2.0",
        "rawPath": path,
        "headers": {},
        "requestContext": {"http": http, "stage": "$default", "requestId": "r-1"},
        "body": "{}",
        "isBase64Encoded": False,
    }


@dataclass(frozen=True, slots=True)
class Runtime:
    """Runs what a function would run, with its environment, and keeps what it writes."""

    patch: pytest.MonkeyPatch
    output: pytest.CaptureFixture[str]

    def written(self, template: Mapping[str, Any]) -> set[Series]:
        """What the functions of a core stack record."""
        found = environments(template)
        for handler in SHOP.handlers:
            self._set(found[f"{handler.__module__}.{handler.__name__}"])
            ending = Ending(index=0, delivery=UNREADABLE, outcome=Outcome.SUCCEEDED, phase="run")
            entrypoint.ports_of(handler).teller.tell(handler, [ending], now=NOW)
        self._set(found["surehand.ingress.handle"])
        secrets = SecretCache(lambda _: [SecretVersion("AWSCURRENT", "whsec_secret")], lambda: NOW)
        stream = io.StringIO()
        answering = replace(ingress._build(), secrets=secrets, stream=stream)
        for name in (handler.name for handler in SHOP.handlers if handler.trigger == "webhook"):
            answering.answer(request(f"/hooks/{name}"))
        return series(self.output.readouterr().out + stream.getvalue())

    def _set(self, variables: Mapping[str, str]) -> None:
        entrypoint.forget()
        self.patch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        for name, value in variables.items():
            self.patch.setenv(name, value)


def series(text: str) -> set[Series]:
    records = [record for line in text.splitlines() if "_aws" in (record := json.loads(line))]
    return {
        (dimension, record[dimension])
        for record in records
        for directive in record["_aws"]["CloudWatchMetrics"]
        for (dimension,) in directive["Dimensions"]
    }


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Runtime]:
    yield Runtime(monkeypatch, capsys)
    entrypoint.forget()
    ingress.forget()


def test_the_alarms_and_the_dashboard_read_what_the_functions_of_their_own_stage_write(
    full: Synthesis, runtime: Runtime
) -> None:
    written = runtime.written(full.templates["core"])

    assert read(full.templates["watch"]) == written
    assert {value for _, value in written} == {f"shop-prod-{handler.name}" for handler in SHOP.handlers}


def test_an_inventory_names_the_metrics_for_alarms_that_we_did_not_make(full: Synthesis) -> None:
    said = [one["metrics"] for one in inventory(SHOP, "prod")["handlers"]]

    assert {one["namespace"] for one in said} == {"surehand"}
    assert {series for one in said for series in one["dimensions"].items()} == {
        one for one in read(full.templates["watch"]) if one[0] == "handler"
    }


def test_the_sweep_s_gauges_are_those_of_its_stage(full: Synthesis) -> None:
    told = lines(Report(), Task.of(SHOP.handlers), service="shop", stage="prod", version="1", now=NOW)

    assert series("\n".join(told)) == {one for one in read(full.templates["watch"]) if one[0] == "handler"}


def test_no_two_stages_and_no_two_services_share_a_metric() -> None:
    each = [
        {
            (metric.name, *metric.dimensions.items())
            for handler in SHOP.handlers
            for signal in signals_of(
                Subject.of(handler, service=service, stage=stage, mapping="m", traffic=Traffic()),
                ticking=Ticking(timedelta(hours=1), "g"),
                swept=True,
            )
            for metric in signal.metrics
            if isinstance(metric, Metric) and metric.namespace == "surehand"
        }
        for service, stage in (("shop", "dev"), ("shop", "prod"), ("depot", "dev"))
    ]

    assert all(each)
    assert all(one.isdisjoint(other) for one, other in itertools.combinations(each, 2))
