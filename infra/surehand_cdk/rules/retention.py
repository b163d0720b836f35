"""How long messages are kept, so that somebody can still act on them."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import Assembly, location
from .consumption import FOREVER_IN_QUEUE, is_fifo, retention, sources_by_dead_letters
from .ownership import TABLE_VARIABLE, ledgers
from .rule import Level, Scope, Verdict, refuse, rule
from .shapes import whole
from .template import Resource, Unknown

TRIAGE = 3 * 86_400
LEDGER_VARIABLE = "SUREHAND_LEDGER_RETENTION"
LEDGER_DEFAULT = 30 * 86_400


def _as_long_as_sqs_can(a: Assembly, target: Resource) -> Iterator[Verdict]:
    kept = retention(a, target)
    if kept != FOREVER_IN_QUEUE:
        longest = max(retention(a, source) for source in sources_by_dead_letters(a)[target])
        left = (
            "" if is_fifo(a, target) else f"; a message that failed on its last day has {max(0, kept - longest)} s left"
        )
        yield refuse(
            target,
            location("MessageRetentionPeriod"),
            f"keeps dead letters {kept} s, needs {FOREVER_IN_QUEUE} s (14 days){left}",
            fix="retention_period=Duration.days(14)",
            edits=[target.put("MessageRetentionPeriod", value=FOREVER_IN_QUEUE)],
        )


def _time_for_triage(a: Assembly, target: Resource) -> Iterator[Verdict]:
    if is_fifo(a, target):
        return
    for source in sources_by_dead_letters(a)[target]:
        kept, before = retention(a, target), retention(a, source)
        if kept - before < TRIAGE:
            wanted = max(60, kept - TRIAGE)
            yield refuse(
                source,
                location("MessageRetentionPeriod"),
                f"keeps a message {before} s and its dead-letter queue {kept} s counted from the same moment",
                fix=f"retention_period=Duration.seconds({wanted}) on the source queue",
                edits=[source.put("MessageRetentionPeriod", value=wanted)],
            )


def _remembered(a: Assembly, table: Resource) -> Iterator[Verdict]:
    longest = max(
        (retention(a, source) + retention(a, target)
         for target, feeders in sources_by_dead_letters(a).items() for source in feeders),
        default=0,
    )  # fmt: skip
    for function in a.functions:
        variables = a.variables(function)
        given = variables.get(LEDGER_VARIABLE, LEDGER_DEFAULT)
        if a.target(variables.get(TABLE_VARIABLE)) is not table or isinstance(given, Unknown):
            continue
        if whole(given, LEDGER_DEFAULT) < longest:
            yield refuse(
                function,
                location("Environment", "Variables", LEDGER_VARIABLE),
                f"the ledger forgets after {given} s, and a dead letter may be redriven after {longest} s",
                fix=f"{LEDGER_VARIABLE}={longest} or more",
                edits=[function.put("Environment", "Variables", LEDGER_VARIABLE, value=str(longest))],
            )


RULES = (
    rule(
        "D04",
        "A dead-letter queue keeps messages for fourteen days",
        scope=Scope.ANY,
        why="on a standard queue a dead letter keeps its first enqueue time, so it may expire minutes after it came",
        fix="MessageRetentionPeriod 1209600 on every redrive target",
        source=sources.SQS_DEAD_LETTERS,
        over=sources_by_dead_letters,
        judge=_as_long_as_sqs_can,
    ),
    rule(
        "D12",
        "Three days remain to look at a dead letter",
        level=Level.WARNING,
        scope=Scope.ANY,
        why="a weekend passes between the last receive and the first person",
        fix="source retention <= DLQ retention - 3 days",
        source=sources.SQS_DEAD_LETTERS,
        over=sources_by_dead_letters,
        judge=_time_for_triage,
    ),
    rule(
        "T06",
        "The ledger remembers longer than a dead letter can live",
        why="an operation that was forgotten before its redrive is run again, and its effect happens twice",
        fix="SUREHAND_LEDGER_RETENTION >= queue retention + DLQ retention",
        source=sources.DESIGN,
        over=ledgers,
        judge=_remembered,
    ),
)
