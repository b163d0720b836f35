"""The shape of a runbook entry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One heading of the runbook. Its texts may use the names of `Names` in braces."""

    means: str
    see: str
    command: str
    then: str
    escalate: str


LOGS = "aws logs tail /aws/lambda/{function} --since 30m --filter-pattern '{{ $.failure_class = \"%s\" }}'"
