"""Every rule refuses a stack that was broken on purpose, says what is wrong, and its fix cures it."""

from __future__ import annotations

import pytest

from surehand_cdk.rules import RULES, Finding, apply, check
from tests.infra.rules.broken_stacks import BROKEN, Broken
from tests.infra.rules.shop import broken

every_broken_stack = pytest.mark.parametrize("case", BROKEN, ids=[case.id for case in BROKEN])


def said(case: Broken) -> list[Finding]:
    return [f for f in check(broken(case.break_it)) if (f.rule.id, f.resource) == (case.rule, case.resource)]


@every_broken_stack
def test_a_broken_stack_is_refused_by_its_rule_which_says_what_is_wrong(case: Broken):
    findings = said(case)

    assert [f for f in findings if case.says in f.message], [f.message for f in check(broken(case.break_it))]


@every_broken_stack
def test_a_broken_stack_is_refused_by_no_rule_that_has_nothing_to_do_with_it(case: Broken):
    ids = {f.rule.id for f in check(broken(case.break_it))}

    assert ids <= {case.rule, *case.also}


@every_broken_stack
def test_a_violation_has_the_level_of_its_rule_and_what_cannot_be_read_is_a_warning(case: Broken):
    for finding in said(case):
        assert finding.level == (finding.rule.level if finding.checkable else "warning")


@pytest.mark.parametrize("case", [c for c in BROKEN if c.applies], ids=[c.id for c in BROKEN if c.applies])
def test_the_computed_fix_applied_makes_the_rule_content(case: Broken):
    templates = broken(case.break_it)
    edits = tuple(edit for finding in said(case) for edit in finding.edits)
    assert edits

    fixed = apply(templates, edits)

    assert [f.message for f in check(fixed) if f.rule.id == case.rule] == []


def test_every_rule_has_a_broken_stack():
    assert {rule.id for rule in RULES} == {case.rule for case in BROKEN}


def test_at_least_forty_rules_and_thirty_mechanical_fixes_are_shown():
    assert len(RULES) >= 40
    assert len([case for case in BROKEN if case.applies]) >= 30


def test_a_finding_reads_like_an_advice():
    (finding,) = said(BROKEN[0])

    assert finding.text.startswith(
        "Queue ChargeQueue: visibility 60 s, needs 180 s (6 x 30 s timeout + 0 s window). "
        "Fix: visibility_timeout=Duration.seconds(180). Why: Lambda retries a throttled batch"
    )
    assert finding.text.endswith("Ack: surehand::Q01")
