"""What a rule is, what it can say, and what becomes of it in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from .template import Edit, Resource

if TYPE_CHECKING:
    from .assembly import Assembly

PLUGIN = "surehand"
T = TypeVar("T")


class Level(StrEnum):
    """An error refuses the synthesis; a warning is reported and lets it pass."""

    ERROR = "error"
    WARNING = "warning"


class Scope(StrEnum):
    """Which resources a rule reads: those that belong to a surehand handler, or every one of the kind."""

    SUREHAND = "surehand"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one rule says about one resource. *level* overrides the rule's own."""

    subject: Resource
    at: str
    says: str
    fix: str
    edits: tuple[Edit, ...] = ()
    level: Level | None = None
    checkable: bool = True


def refuse(
    subject: Resource, at: str, says: str, *, fix: str, edits: Iterable[Edit] = (), level: Level | None = None
) -> Verdict:
    """A violation by *subject* at the template location *at*; *edits* are the fix, where it is mechanical."""
    return Verdict(subject=subject, at=at, says=says, fix=fix, edits=tuple(edits), level=level)


class NotKnown(Exception):
    """Raised while judging when a value cannot be read from the templates."""

    def __init__(self, subject: Resource, at: str, reason: str) -> None:
        super().__init__(reason)
        self.subject = subject
        self.at = at
        self.reason = reason

    def verdict(self) -> Verdict:
        """The report line for it: never a silent pass."""
        return Verdict(
            subject=self.subject,
            at=self.at,
            says=f"not checkable: {self.reason}",
            fix="give the value in the template, or acknowledge the rule with how you made sure of it",
            level=Level.WARNING,
            checkable=False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One invariant. *why* is one line, *fix* the general remedy (a finding computes its own)."""

    id: str
    title: str
    level: Level
    scope: Scope
    why: str
    fix: str
    source: str
    verdicts: Callable[[Assembly], Iterator[Verdict]]

    @property
    def acknowledge_id(self) -> str:
        """The id under which CDK's ``Validations`` acknowledges it."""
        return f"{PLUGIN}::{self.id}"


def rule(
    id: str,
    title: str,
    *,
    level: Level = Level.ERROR,
    scope: Scope = Scope.SUREHAND,
    why: str,
    fix: str,
    source: str,
    over: Callable[[Assembly], Iterable[T]],
    judge: Callable[[Assembly, T], Iterable[Verdict]],
) -> Rule:
    """A rule that calls *judge* for each subject of *over*; what it cannot read becomes a *not checkable* verdict."""

    def verdicts(assembly: Assembly) -> Iterator[Verdict]:
        for subject in over(assembly):
            try:
                yield from judge(assembly, subject)
            except NotKnown as unknown:
                yield unknown.verdict()

    return Rule(id=id, title=title, level=level, scope=scope, why=why, fix=fix, source=source, verdicts=verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report."""

    rule: Rule
    level: Level
    template: str
    resource: str
    construct_path: str
    at: str
    message: str
    fix: str
    edits: tuple[Edit, ...]
    checkable: bool

    @property
    def text(self) -> str:
        """The whole line: what is wrong, the computed fix, why, and how to acknowledge it."""
        return (
            f"{self.message}. Fix: {self.fix}. Why: {self.rule.why} ({self.rule.source}). "
            f"Ack: {self.rule.acknowledge_id}"
        )
