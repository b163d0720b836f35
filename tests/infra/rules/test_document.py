"""docs/rules.md says what the rules say."""

from __future__ import annotations

from pathlib import Path

import pytest

from surehand_cdk.rules import RULES, Rule
from surehand_cdk.rules.document import document

PAGE = Path(__file__).resolve().parents[3] / "docs" / "rules.md"


def test_the_page_is_what_the_rules_generate():
    assert PAGE.read_text(encoding="utf-8") == document(), "run: python -m surehand_cdk.rules.document > docs/rules.md"


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_a_rule_says_in_one_line_what_why_how_and_from_where(rule: Rule):
    for text in (rule.title, rule.why, rule.fix, rule.source):
        assert text
        assert "\n" not in text
        assert not text.endswith(".")


def test_no_two_rules_share_an_id():
    assert len({rule.id for rule in RULES}) == len(RULES)
