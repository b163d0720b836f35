"""Causes: composite alarms that tell what is wrong, each silent while another one explains the same signals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .subject import Subject

_NAME = re.compile(r"\{([a-z-]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A composite alarm. *rule* names signals and earlier causes in braces. It notifies, unless *quiet*.

    While *suppressor* is red, or turns red within *wait* seconds, no notification is sent.
    """

    name: str
    rule: str
    suppressor: str | None = None
    wait: int = 0
    quiet: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The signals and causes that the rule names."""
        return tuple(dict.fromkeys(_NAME.findall(self.rule)))

    def named(self, alarm: Callable[[str], str]) -> str:
        """The rule as CloudWatch takes it; *alarm* gives the alarm of a part."""
        return _NAME.sub(lambda match: f'ALARM("{alarm(match[1])}")', self.rule)


def causes(subject: Subject, *, stuck: tuple[str, ...]) -> Iterator[Cause]:
    """The causes of one handler, in an order in which each names only what came before. *stuck* are STUCK's signals."""
    wait = subject.rhythm.delay
    yield Cause(name="provider-outage", rule="{provider-rate} AND NOT {code-rate}")
    yield Cause(
        name="code-regression", rule=f"{_everybodys(subject)} AND NOT {{provider-rate}} AND NOT {{ledger-throttled}}"
    )
    particular = "({concentrated} OR {data-count})" if subject.by_tenant else "{data-count}"
    yield Cause(
        name="data-repair",
        rule=f"{particular} AND NOT {{provider-rate}} AND NOT {{code-regression}}",
        suppressor="code-regression",
        wait=wait,
    )
    yield Cause(name="stuck", rule=" OR ".join(f"{{{name}}}" for name in stuck))
    yield Cause(
        name="known-cause",
        rule="{provider-outage} OR {code-regression} OR {data-repair} OR {stuck} OR {ledger-throttled}",
        quiet=True,
    )
    yield Cause(
        name="poison",
        rule="{dlq-arrivals} AND NOT {data-count} AND NOT {known-cause}",
        suppressor="known-cause",
        wait=wait,
    )
    yield Cause(
        name="backlog",
        rule="({backlog-age} OR {backlog-growth}) AND NOT {provider-outage} AND NOT {code-regression} AND NOT {stuck}"
        " AND NOT {ledger-throttled}",
        suppressor="known-cause",
        wait=_backlog_wait(subject),
    )


def _everybodys(subject: Subject) -> str:
    """Failures that are not one tenant's. Insights arrive late: a rate that is red at once must wait for their word."""
    if not subject.by_tenant:
        return "({code-rate} OR {fn-error-rate} OR {data-rate})"
    if subject.rhythm.immediate:
        return "((({code-rate} OR {data-rate}) AND {spread}) OR {fn-error-rate})"
    return "({code-rate} OR {fn-error-rate} OR {data-rate}) AND NOT {concentrated}"


def _backlog_wait(subject: Subject) -> int:
    """How much later than a backlog its explanation may show."""
    standing_still = (8 + subject.timeout // 60 + 2) * 60
    earliest = subject.oldest + 5 * 60
    return max(60, max(subject.rhythm.delay, standing_still) - earliest)
