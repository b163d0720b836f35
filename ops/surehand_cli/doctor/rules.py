"""What is wrong, by comparing facts with the inventory: arithmetic, no AWS.

An *error* loses messages, runs effects twice or stops the service; a *warning* blinds or weakens; a *note* could not be
checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from surehand_cli.doctor.facts import Absent, Fact, Facts, Unknown
from surehand_cli.doctor.finding import DEPLOY, Finding, Severity, differs, missing_thing, not_checked
from surehand_cli.doctor.function_rules import function, function_name, mapping, schedule, versions

#: A dead letter that has used up this share of its queue's retention is near its end.
_NEAR_EXPIRY = 0.75


def findings(wanted: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    """Yield everything that is not as the inventory says."""
    yield from _table(wanted["ledger"], facts)
    for one in wanted["handlers"]:
        yield from _queue(one, facts)
        yield from _dead_letters(one, facts)
        yield from function(one["function"], facts.functions[one["function"]["name"]])
        yield from mapping(one, facts)
        yield from schedule(one, facts)
    yield from function(wanted["sweep"]["function"], facts.functions[wanted["sweep"]["function"]["name"]])
    yield from versions(wanted, facts)
    yield from _alarms(wanted, facts.alarms)


def _table(wanted: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    name = wanted["table"]
    if (missing := missing_thing(name, facts.table)) is not None:
        yield missing
        return
    table = facts.table
    assert isinstance(table, Mapping)  # noqa: S101 - what missing_thing has just told
    keys = [key["AttributeName"] for key in table.get("KeySchema", ())]
    yield from differs(name, "its key", keys, list(wanted["keys"]), severity=Severity.ERROR)
    indexes = [index["IndexName"] for index in table.get("GlobalSecondaryIndexes", ())]
    if wanted["index"]["name"] not in indexes:
        what = f"it has no index '{wanted['index']['name']}': failures cannot be listed"
        yield Finding(severity=Severity.ERROR, resource=name, what=what, fix=DEPLOY)
    if (missing := missing_thing(name, facts.ttl)) is not None:
        yield missing
    elif isinstance(facts.ttl, Mapping):
        status, attribute = facts.ttl.get("TimeToLiveStatus"), facts.ttl.get("AttributeName")
        if status not in ("ENABLED", "ENABLING") or attribute != wanted["ttl_attribute"]:
            what = f"its TTL is {status} on {attribute}: it grows for ever"
            fix = f"aws dynamodb update-time-to-live: Enabled, AttributeName={wanted['ttl_attribute']}"
            yield Finding(severity=Severity.WARNING, resource=name, what=what, fix=fix)


def _queue(one: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    wanted, dead = one["queue"], one["dead_letters"]["name"]
    name = wanted["name"]
    queue = facts.queues[name]
    if (missing := missing_thing(name, queue)) is not None:
        yield missing
        return
    assert isinstance(queue, Mapping)  # noqa: S101 - what missing_thing has just told
    visibility, timeout = int(queue.get("VisibilityTimeout", 30)), one["function"]["timeout_seconds"]
    severity = Severity.ERROR if visibility < timeout else Severity.WARNING
    declared = wanted["visibility_timeout_seconds"]
    yield from differs(name, "its visibility timeout", visibility, declared, severity=severity)
    retention = int(queue.get("MessageRetentionPeriod", 345_600))
    severity = Severity.ERROR if retention < wanted["retention_seconds"] else Severity.WARNING
    yield from differs(name, "its retention", retention, wanted["retention_seconds"], severity=severity)
    target = str(queue["RedrivePolicy"].get("deadLetterTargetArn", "none")).rpartition(":")[2]
    yield from differs(name, "its dead-letter queue", target, dead, severity=Severity.ERROR)
    if target == "none":
        return
    receives = int(queue["RedrivePolicy"].get("maxReceiveCount", 0))
    severity = Severity.ERROR if receives < one["delivery"]["max_attempts"] else Severity.WARNING
    yield from differs(name, "maxReceiveCount", receives, wanted["max_receive_count"], severity=severity)


def _dead_letters(one: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    wanted = one["dead_letters"]
    name = wanted["name"]
    queue = facts.queues[name]
    if (missing := missing_thing(name, queue)) is not None:
        yield missing
        return
    assert isinstance(queue, Mapping)  # noqa: S101 - what missing_thing has just told
    retention = int(queue.get("MessageRetentionPeriod", 345_600))
    severity = Severity.ERROR if retention <= one["queue"]["retention_seconds"] else Severity.WARNING
    yield from differs(name, "its retention", retention, wanted["retention_seconds"], severity=severity)
    mappings = facts.mappings[name]
    if isinstance(mappings, Mapping) and mappings["found"]:
        functions = ", ".join(function_name(one) for one in mappings["found"])
        what = f"{functions} consumes dead letters: they vanish before anybody sees them"
        yield Finding(severity=Severity.ERROR, resource=name, what=what, fix="remove that event source mapping")
    age = facts.ages.get(name)
    if age is not None and age > _NEAR_EXPIRY * retention:
        what = f"its oldest letter is {age / 86_400:.1f} days old and is lost after {retention / 86_400:.0f}"
        fix = f"surehand dlq stats {one['name']}, then redrive, park or export them"
        yield Finding(severity=Severity.ERROR, resource=name, what=what, fix=fix)


def _alarms(wanted: Mapping[str, Any], alarms: Fact) -> Iterator[Finding]:
    resource = f"alarms {wanted['service']}-{wanted['stage']}-*"
    if isinstance(alarms, Absent | Unknown):
        yield not_checked(resource, alarms if isinstance(alarms, Unknown) else Unknown("none"))
        return
    found = alarms["found"]
    if not found:
        what = "no alarm watches this stage"
        fix = "deploy the watch stack (`Watch` of surehand_cdk)"
        yield Finding(severity=Severity.WARNING, resource=resource, what=what, fix=fix)
    elif not any(alarm.get("AlarmActions") for alarm in found):
        what = "no alarm has an action: nobody is told"
        yield Finding(severity=Severity.WARNING, resource=resource, what=what, fix="subscribe to the alarm topic")
    for alarm in found:
        if alarm.get("ActionsEnabled") is False:
            what, fix = (
                "its actions are disabled",
                f"aws cloudwatch enable-alarm-actions --alarm-names {alarm['AlarmName']}",
            )
            yield Finding(severity=Severity.WARNING, resource=str(alarm["AlarmName"]), what=what, fix=fix)
