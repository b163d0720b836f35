"""A finding, and the two comparisons that most of them come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from surehand_cli.doctor.facts import Absent, Fact, Unknown


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is not as declared, and what to do about it."""

    severity: Severity
    resource: str
    what: str
    fix: str


#: How most drift is mended.
DEPLOY = "deploy again: `cdk deploy`, or what deploys this stage"


def missing_thing(name: str, fact: Fact) -> Finding | None:
    if isinstance(fact, Absent):
        return Finding(
            severity=Severity.ERROR, resource=name, what="it does not exist", fix=f"{DEPLOY}; is --stage right?"
        )
    if isinstance(fact, Unknown):
        fix = "ask for the viewer's policy in ops/policies/"
        return Finding(severity=Severity.NOTE, resource=name, what=f"not checked ({fact.why})", fix=fix)
    return None


def differs(
    name: str, what: str, found: object, declared: object, *, severity: Severity, fix: str = DEPLOY
) -> Iterator[Finding]:
    if found != declared:
        yield Finding(severity=severity, resource=name, what=f"{what} is {found}, declared is {declared}", fix=fix)
