"""Alarms change state and tell as CloudWatch documents it: M of N, missing data, composites, suppressors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.alarms.evaluator import Alarms, notifications, states
from tests.infra.alarms.metrics import Key, Recorded
from tests.infra.alarms.rules_of_composites import compiled, names

KEY = Key("surehand", "Failed", "orders")
#: Our own metrics are seen a minute later.
LATE = 1


def alarm(**given: Any) -> dict[str, Any]:
    metric = {
        "Namespace": KEY.namespace,
        "MetricName": KEY.name,
        "Dimensions": [{"Name": "handler", "Value": KEY.of}],
    }
    return {
        "AlarmName": "failed",
        "Metrics": [
            {
                "Id": "m",
                "ReturnData": True,
                "MetricStat": {"Period": 60, "Stat": "Sum", "Metric": metric, **given.pop("stat", {})},
            }
        ],
        "Threshold": 0,
        "ComparisonOperator": "GreaterThanThreshold",
        "EvaluationPeriods": 3,
        "DatapointsToAlarm": 2,
        "TreatMissingData": "notBreaching",
        **given,
    }


def red(values: list[float | None], properties: dict[str, Any]) -> list[int]:
    """The minutes at which the alarm is red, counted without the delay of the metric."""
    recorded = Recorded(len(values) + LATE)
    for minute, value in enumerate(values):
        if value is not None:
            recorded.put(minute, KEY, value)
    found = states(Alarms({"failed": properties}, {}), recorded)["failed"]
    return [minute - LATE for minute, on in enumerate(found) if on and minute >= LATE]


def test_it_is_red_when_m_of_n_points_breach():
    assert red([0, 5, 0, 5, 0, 0, 0], alarm()) == [3]


def test_it_is_green_again_when_fewer_breach():
    assert red([5, 5, 0, 0, 0], alarm()) == [1, 2]


def test_missing_points_do_not_breach_unless_it_says_so():
    assert red([None] * 4, alarm()) == []
    assert red([None] * 4, alarm(TreatMissingData="breaching")) == [0, 1, 2, 3]


def test_a_gap_is_bridged_with_older_points_when_there_are_enough():
    assert 5 in red([0, 5, 5, 0, None, None], alarm(DatapointsToAlarm=2, EvaluationPeriods=3))


def test_a_heartbeat_is_red_when_the_beat_stays_away():
    heartbeat = alarm(
        ComparisonOperator="LessThanThreshold", Threshold=1, TreatMissingData="breaching", DatapointsToAlarm=3
    )

    assert red([1, 1, 0, 0, 0, 1], heartbeat) == [4]


def test_a_longer_period_slides_minute_by_minute():
    five = alarm(stat={"Period": 300}, Threshold=9, EvaluationPeriods=1, DatapointsToAlarm=1)

    assert red([0, 0, 5, 5, 0, 0, 0, 0, 0], five) == [3, 4, 5, 6]


def test_an_alarm_in_metric_math_takes_the_expression_that_it_returns():
    properties = alarm(EvaluationPeriods=1, DatapointsToAlarm=1)
    properties["Metrics"][0]["ReturnData"] = False
    properties["Metrics"].append({"Id": "e", "Expression": "IF(FILL(m,0) > 3, 1, 0)", "ReturnData": True})

    assert red([1, 2, 4, 3], properties) == [2]


@pytest.mark.parametrize(
    ("rule", "result"),
    [
        ('ALARM("a")', True),
        ('NOT ALARM("a")', False),
        ('ALARM("a") AND ALARM("b")', False),
        ('ALARM("a") OR ALARM("b")', True),
        ('ALARM("b") OR ALARM("a") AND NOT ALARM("b")', True),
        ('(ALARM("a") OR ALARM("b")) AND ALARM("b")', False),
        ('NOT (ALARM("a") AND ALARM("b"))', True),
    ],
)
def test_a_composite_rule_has_its_truth(rule: str, result: bool):
    assert compiled(rule)({"a": True, "b": False}) is result


def test_a_composite_rule_names_its_alarms():
    assert names('(ALARM("a") OR ALARM("b")) AND NOT ALARM("c")') == ["a", "b", "c"]


@pytest.mark.parametrize("rule", ['ALARM("a', 'ALARM("a") AND', '(ALARM("a")', 'ALARM("a") ALARM("b")', "OK(a)"])
def test_a_rule_that_cannot_be_read_is_an_error(rule: str):
    with pytest.raises(ValueError, match=r"."):
        compiled(rule)


def told(own: str, suppressor: str, *, wait: int = 3, extension: int = 2) -> list[int]:
    """When a composite tells; each character is a minute, ``#`` is red."""
    composite = {
        "AlarmActions": ["topic"],
        "ActionsSuppressor": "larger",
        "ActionsSuppressorWaitPeriod": wait * 60,
        "ActionsSuppressorExtensionPeriod": extension * 60,
    }
    given = {"cause": [c == "#" for c in own], "larger": [c == "#" for c in suppressor]}
    return [n.minute for n in notifications(Alarms({}, {"cause": composite}), given)]


def test_a_cause_waits_for_a_larger_one_and_then_tells():
    assert told("..######", "........") == [5]


def test_a_cause_that_is_over_before_its_wait_tells_nobody():
    assert told("..##....", "........") == []


def test_a_larger_cause_that_shows_within_the_wait_keeps_it_quiet():
    assert told("..##########", "...#########") == []


def test_a_larger_cause_that_shows_too_late_does_not():
    assert told("..##########", "......######") == [5]


def test_when_the_larger_cause_ends_it_tells_after_the_extension():
    assert told("..##########", "..####......") == [8]


def test_without_a_suppressor_it_tells_at_once_and_once():
    alarms = Alarms({}, {"cause": {"AlarmActions": ["topic"]}})

    assert [n.minute for n in notifications(alarms, {"cause": [False, True, True, False, True]})] == [1, 4]


def test_an_alarm_without_actions_tells_nobody():
    assert notifications(Alarms({"signal": {}}, {}), {"signal": [True]}) == []
