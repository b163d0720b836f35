"""Rules about what runs: functions and their variables, event source mappings, schedules, versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from surehand_cli.doctor.facts import Absent, Fact, Facts, Unknown
from surehand_cli.doctor.finding import DEPLOY, Finding, Severity, differs, missing_thing, not_checked


def function(wanted: Mapping[str, Any], live: Fact) -> Iterator[Finding]:
    name = wanted["name"]
    if (missing := missing_thing(name, live)) is not None:
        yield missing
        return
    assert isinstance(live, Mapping)  # noqa: S101 - what missing_thing has just told
    yield from differs(name, "its handler", live.get("Handler"), wanted["handler"], severity=Severity.ERROR)
    yield from differs(name, "its timeout", live.get("Timeout"), wanted["timeout_seconds"], severity=Severity.ERROR)
    yield from differs(name, "its memory", live.get("MemorySize"), wanted["memory_mb"], severity=Severity.WARNING)
    variables = live.get("Environment", {}).get("Variables", {})
    for variable, value in wanted["environment"].items():
        found = variables.get(variable)
        if found is None and variable != "SUREHAND_VERSION":
            what = f"{variable} is not set"
            yield Finding(severity=Severity.ERROR, resource=name, what=what, fix=DEPLOY)
        elif found is not None and "{" not in value:
            yield from differs(name, variable, found, value, severity=Severity.ERROR)
        elif found is not None and "/" in value:
            yield from differs(
                name, variable, found.rpartition("/")[2], value.rpartition("/")[2], severity=Severity.ERROR
            )


def mapping(one: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    queue, wanted = one["queue"]["name"], one["mapping"]
    mappings = facts.mappings[queue]
    if isinstance(mappings, Absent):
        return
    if isinstance(mappings, Unknown):
        yield not_checked(queue, mappings, what="its event source mapping is ")
        return
    mine = [found for found in mappings["found"] if function_name(found) == one["function"]["name"]]
    for other in mappings["found"]:
        if other not in mine:
            what = f"{function_name(other)} consumes it too: it takes messages away"
            yield Finding(severity=Severity.ERROR, resource=queue, what=what, fix="remove that event source mapping")
    if not mine:
        yield Finding(severity=Severity.ERROR, resource=queue, what="no function consumes it", fix=DEPLOY)
    for found in mine:
        yield from _mapping_is(queue, found, wanted)


def _mapping_is(queue: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Finding]:
    if found.get("State") not in ("Enabled", "Enabling", "Updating", "Creating"):
        what = f"its event source mapping is {found.get('State')}: nothing is processed"
        fix = f"aws lambda update-event-source-mapping --enabled --uuid {found.get('UUID')}"
        yield Finding(severity=Severity.ERROR, resource=queue, what=what, fix=fix)
    for response in wanted["function_response_types"]:
        if response not in (found.get("FunctionResponseTypes") or ()):
            what = f"its mapping lacks {response}: what failed in a batch is deleted"
            yield Finding(severity=Severity.ERROR, resource=queue, what=what, fix=DEPLOY)
    for metric in wanted["metrics"]:
        if metric not in (found.get("MetricsConfig") or {}).get("Metrics", ()):
            what = f"its mapping does not emit {metric}: alarms that need it stay silent"
            yield Finding(severity=Severity.WARNING, resource=queue, what=what, fix=DEPLOY)
    size = found.get("BatchSize")
    yield from differs(queue, "the mapping's batch size", size, wanted["batch_size"], severity=Severity.WARNING)
    window = found.get("MaximumBatchingWindowInSeconds") or 0
    yield from differs(queue, "the mapping's window", window, wanted["batch_window_seconds"], severity=Severity.WARNING)
    concurrency = (found.get("ScalingConfig") or {}).get("MaximumConcurrency")
    yield from differs(
        queue, "the mapping's maximum concurrency", concurrency, wanted["max_concurrency"], severity=Severity.WARNING
    )


def schedule(one: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    trigger, name = one["trigger"], one["function"]["name"]
    if trigger["kind"] != "schedule":
        return
    live = facts.schedules[name]
    if (missing := missing_thing(f"schedule {name}", live)) is not None:
        yield missing
        return
    assert isinstance(live, Mapping)  # noqa: S101 - what missing_thing has just told
    found = live.get("ScheduleExpression")
    yield from differs(f"schedule {name}", "its expression", found, trigger["expression"], severity=Severity.ERROR)
    if live.get("State") == "DISABLED":
        what = "it is disabled: no tick comes"
        fix = "schedules_enabled=True of the ServiceConstruct, and deploy"
        yield Finding(severity=Severity.WARNING, resource=f"schedule {name}", what=what, fix=fix)


def versions(wanted: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    """All functions of a stage come from one bundle; two versions mean a deployment that stopped half way."""
    found: dict[str, list[str]] = {}
    for one in wanted["handlers"]:
        live = facts.functions[one["function"]["name"]]
        if isinstance(live, Mapping):
            version = live.get("Environment", {}).get("Variables", {}).get("SUREHAND_VERSION")
            if version:
                found.setdefault(str(version), []).append(one["name"])
    if len(found) > 1:
        said = "; ".join(f"{version}: {', '.join(names)}" for version, names in sorted(found.items()))
        what = f"functions of different versions ({said})"
        yield Finding(severity=Severity.WARNING, resource=wanted["service"], what=what, fix=DEPLOY)


def function_name(mapping: Mapping[str, Any]) -> str:
    return str(mapping.get("FunctionArn", "?")).partition(":function:")[2].partition(":")[0] or "?"
