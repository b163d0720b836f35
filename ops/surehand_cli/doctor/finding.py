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
        return not_checked(name, fact)
    return None


def not_checked(name: str, fact: Unknown, what: str = "") -> Finding:
    """Return the note that something could not be looked at, with what would change that."""
    fix = next(
        (advice for part, advice in _ADVICE.items() if part in fact.why), "see what AWS says of it in the console"
    )
    return Finding(severity=Severity.NOTE, resource=name, what=f"{what}not checked ({fact.why})", fix=fix)


_POLICY = "ask for the viewer's policy in ops/policies/"
#: A part of AWS's code or of the client's exception → what to do.
_ADVICE = {
    "Denied": _POLICY,
    "Unauthorized": _POLICY,
    "Throttl": "run it again in a minute",
    "Timeout": "is this service's endpoint reachable from here? Run it where it is",
    "Connect": "is this service's endpoint reachable from here? Run it where it is",
    "Endpoint": "is this service's endpoint reachable from here? Run it where it is",
    "NotImplemented": "this endpoint does not have the call; AWS has",
    "Unknown": "this endpoint does not have the call; AWS has",
}


def differs(
    name: str, what: str, found: object, declared: object, *, severity: Severity, fix: str = DEPLOY
) -> Iterator[Finding]:
    if found != declared:
        yield Finding(severity=severity, resource=name, what=f"{what} is {found}, declared is {declared}", fix=fix)
