"""`surehand doctor`: every kind of drift is found, with its fix; what is as declared is not mentioned."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from surehand.testing import World
from surehand_cli.doctor.facts import Absent, Facts, Unknown
from surehand_cli.doctor.finding import Finding, Severity
from surehand_cli.doctor.rules import findings
from surehand_cli.inventory.contract import inventory
from tests.infra.timed_service import TIMED
from tests.ops.conftest import Surehand
from tests.ops.depot import DEPOT

WANTED = inventory(DEPOT, "test")
PARCELS = "depot-test-parcels"
LETTERS = "depot-test-parcels-dlq"


def healthy(wanted: dict[str, Any]) -> Facts:
    """Return the facts of an account in which all is as declared."""
    queues, functions, mappings = {}, {}, {}
    for one in wanted["handlers"]:
        queue, dead, mapping = one["queue"], one["dead_letters"], one["mapping"]
        queues[queue["name"]] = {
            "VisibilityTimeout": str(queue["visibility_timeout_seconds"]),
            "MessageRetentionPeriod": str(queue["retention_seconds"]),
            "RedrivePolicy": {
                "deadLetterTargetArn": f"arn:aws:sqs:eu-west-1:1:{dead['name']}",
                "maxReceiveCount": queue["max_receive_count"],
            },
        }
        queues[dead["name"]] = {"MessageRetentionPeriod": str(dead["retention_seconds"]), "RedrivePolicy": {}}
        mappings[queue["name"]] = {
            "found": [
                {
                    "UUID": "u-1",
                    "FunctionArn": f"arn:aws:lambda:eu-west-1:1:function:{one['function']['name']}",
                    "State": "Enabled",
                    "BatchSize": mapping["batch_size"],
                    "MaximumBatchingWindowInSeconds": mapping["batch_window_seconds"],
                    "ScalingConfig": {"MaximumConcurrency": mapping["max_concurrency"]},
                    "FunctionResponseTypes": mapping["function_response_types"],
                    "MetricsConfig": {"Metrics": mapping["metrics"]},
                }
            ]
        }
        mappings[dead["name"]] = {"found": []}
    for one in [*wanted["handlers"], wanted["sweep"]]:
        function = one["function"]
        variables = {
            name: value.format(region="eu-west-1", account="1", version="v1", bodies="b")
            for name, value in function["environment"].items()
        }
        functions[function["name"]] = {
            "Handler": function["handler"],
            "Timeout": function["timeout_seconds"],
            "MemorySize": function["memory_mb"],
            "Environment": {"Variables": variables},
        }
    schedules = {
        one["function"]["name"]: {"ScheduleExpression": one["trigger"]["expression"], "State": "ENABLED"}
        for one in wanted["handlers"]
        if one["trigger"]["kind"] == "schedule"
    }
    return Facts(
        now=datetime.now(UTC),
        queues=queues,
        functions=functions,
        mappings=mappings,
        schedules=schedules,
        ages={},
        table={
            "KeySchema": [{"AttributeName": name} for name in wanted["ledger"]["keys"]],
            "GlobalSecondaryIndexes": [{"IndexName": wanted["ledger"]["index"]["name"]}],
        },
        ttl={"TimeToLiveStatus": "ENABLED", "AttributeName": wanted["ledger"]["ttl_attribute"]},
        alarms={"found": [{"AlarmName": f"{wanted['service']}-x", "AlarmActions": ["arn"], "ActionsEnabled": True}]},
    )


def found(change: Callable[[Any], object]) -> list[Finding]:
    """Change healthy facts, given as one mutable object, and return what is found."""
    facts = copy.deepcopy(healthy(WANTED))
    changed = change(facts)
    return list(findings(WANTED, changed if isinstance(changed, Facts) else facts))


@pytest.mark.parametrize("service", [DEPOT, TIMED], ids=["depot", "timed"])
def test_nothing_is_found_where_all_is_as_declared(service: Any) -> None:
    wanted = inventory(service, "test")
    assert list(findings(wanted, healthy(wanted))) == []


def queue(name: str, **attributes: Any) -> Callable[[Any], None]:
    return lambda facts: facts.queues[name].update(attributes)


def mapping(**settings: Any) -> Callable[[Any], None]:
    return lambda facts: facts.mappings[PARCELS]["found"][0].update(settings)


def function(**settings: Any) -> Callable[[Any], None]:
    return lambda facts: facts.functions[PARCELS].update(settings)


def variable(name: str, value: str | None) -> Callable[[Facts], None]:
    def change(facts: Any) -> None:
        variables = facts.functions[PARCELS]["Environment"]["Variables"]
        variables.pop(name) if value is None else variables.update({name: value})

    return change


def replaced(**fields: Any) -> Callable[[Facts], Facts]:
    return lambda facts: dataclasses.replace(facts, **fields)


@pytest.mark.parametrize(
    ("change", "severity", "said"),
    [
        (queue(PARCELS, VisibilityTimeout="5"), "error", "visibility timeout is 5, declared is 60"),
        (queue(PARCELS, VisibilityTimeout="90"), "warning", "visibility timeout is 90"),
        (queue(PARCELS, MessageRetentionPeriod="60"), "error", "retention is 60"),
        (queue(PARCELS, RedrivePolicy={}), "error", "dead-letter queue is none"),
        (
            queue(PARCELS, RedrivePolicy={"deadLetterTargetArn": f"a:{LETTERS}", "maxReceiveCount": 1}),
            "error",
            "maxReceiveCount is 1",
        ),
        (queue(LETTERS, MessageRetentionPeriod="86400"), "error", "retention is 86400"),
        (lambda facts: facts.queues.update({PARCELS: Absent()}), "error", "does not exist"),
        (lambda facts: facts.queues.update({PARCELS: Unknown("AccessDenied")}), "note", "not checked (AccessDenied)"),
        (replaced(ages={LETTERS: 13 * 86_400.0}), "error", "oldest letter is 13.0 days old"),
        (
            lambda facts: facts.mappings[LETTERS]["found"].append({"FunctionArn": "arn:function:thief"}),
            "error",
            "thief consumes dead letters",
        ),
        (
            lambda facts: facts.mappings[PARCELS]["found"].append({"FunctionArn": "a:function:thief"}),
            "error",
            "thief consumes it too",
        ),
        (lambda facts: facts.mappings[PARCELS]["found"].clear(), "error", "no function consumes it"),
        (mapping(State="Disabled"), "error", "nothing is processed"),
        (mapping(FunctionResponseTypes=[]), "error", "what failed in a batch is deleted"),
        (mapping(MetricsConfig={}), "warning", "EventCount"),
        (mapping(BatchSize=1), "warning", "batch size is 1"),
        (mapping(ScalingConfig={}), "warning", "maximum concurrency is None"),
        (function(Handler="other.thing"), "error", "handler is other.thing"),
        (function(Timeout=900), "error", "timeout is 900"),
        (function(MemorySize=128), "warning", "memory is 128"),
        (variable("SUREHAND_TABLE", "another"), "error", "SUREHAND_TABLE is another"),
        (variable("SUREHAND_TABLE", None), "error", "SUREHAND_TABLE is not set"),
        (variable("SUREHAND_QUEUE_PARCELS", "https://sqs/1/other"), "error", "SUREHAND_QUEUE_PARCELS is other"),
        (variable("SUREHAND_VERSION", "v0"), "warning", "different versions (v0: parcels; v1:"),
        (replaced(table=Absent()), "error", "does not exist"),
        (replaced(ttl={"TimeToLiveStatus": "DISABLED"}), "warning", "grows for ever"),
        (lambda facts: facts.table["GlobalSecondaryIndexes"].clear(), "error", "no index 'attention'"),
        (replaced(alarms={"found": []}), "warning", "no alarm watches"),
        (replaced(alarms={"found": [{"AlarmName": "a"}]}), "warning", "nobody is told"),
        (
            replaced(alarms={"found": [{"AlarmName": "a", "AlarmActions": ["x"], "ActionsEnabled": False}]}),
            "warning",
            "actions are disabled",
        ),
    ],
)
def test_each_kind_of_drift_is_found_once_with_its_fix(change: Any, severity: str, said: str) -> None:
    (one,) = found(change)
    assert (one.severity.value, said in one.what) == (severity, True), one
    assert one.fix


def test_a_schedule_that_sleeps_or_fires_at_other_times_is_found() -> None:
    wanted = inventory(TIMED, "test")
    facts: Any = healthy(wanted)
    facts.schedules["timed-test-nightly"].update({"State": "DISABLED", "ScheduleExpression": "rate(1 hour)"})
    assert [one.severity for one in findings(wanted, facts)] == [Severity.ERROR, Severity.WARNING]


@pytest.mark.parametrize(
    ("why", "advice"),
    [
        ("AccessDeniedException", "viewer's policy"),
        ("ThrottlingException", "run it again"),
        ("ConnectTimeoutError", "reachable from here"),
        ("UnknownOperationException", "does not have the call"),
    ],
)
def test_what_is_not_checked_comes_with_what_would_change_that(why: str, advice: str) -> None:
    (one,) = found(lambda facts: facts.queues.update({PARCELS: Unknown(why)}))
    assert advice in one.fix


Gathered = Callable[[Callable[[Any], object]], None]
DENIED = Unknown("AccessDenied")


@pytest.fixture
def gathered(depot: World, monkeypatch: pytest.MonkeyPatch) -> Gathered:
    """Let the command gather the facts of a healthy account as *spoil* leaves them."""

    def gathering(spoil: Callable[[Any], object]) -> None:
        def gather(place: Any, wanted: dict[str, Any]) -> Facts:
            facts = healthy(wanted)
            spoil(facts)
            return facts

        monkeypatch.setattr("surehand_cli.doctor.command.gather", gather)

    return gathering


def deny_most(facts: Any) -> None:
    for kind in (facts.queues, facts.functions, facts.mappings):
        kind.update(dict.fromkeys(kind, DENIED))


def test_a_note_fails_a_strict_check_only(surehand: Surehand, gathered: Gathered) -> None:
    gathered(lambda facts: facts.queues.update({PARCELS: DENIED}))
    loose, strict = surehand("doctor"), surehand("doctor", "--strict")
    assert (loose.status, strict.status) == (0, 1)
    assert "1 note." in loose.err


def test_an_account_of_which_most_cannot_be_read_gets_no_verdict(surehand: Surehand, gathered: Gathered) -> None:
    gathered(deny_most)
    said = surehand("doctor")
    assert said.status == 3
    assert "surehand: no verdict: 16 of 19 things could not be read" in said.err


def test_an_account_of_which_nothing_can_be_read_gets_one_line(surehand: Surehand, gathered: Gathered) -> None:
    def deny_all(facts: Any) -> None:
        deny_most(facts)
        for name in ("table", "ttl", "alarms"):
            object.__setattr__(facts, name, DENIED)

    gathered(deny_all)
    said = surehand("doctor")
    assert (said.status, said.out) == (3, "")
    assert said.err.strip() == (
        "surehand: nothing could be checked: not checked (AccessDenied); ask for the viewer's policy in ops/policies/"
    )


def test_the_command_finds_what_moto_has_not_and_fails_for_ci(depot: World, surehand: Surehand) -> None:
    said = surehand("doctor", "--json")
    assert said.status == 1
    found = {(line["resource"], line["what"]) for line in said.lines}
    assert ("depot-test-parcels", "no function consumes it") in found
    assert all(line["fix"] for line in said.lines)
    assert not any(line["resource"] == "depot-test-ledger" and line["severity"] == "error" for line in said.lines)
