"""What the pack lets pass."""

from __future__ import annotations

from surehand_cdk.rules import check
from tests.infra.rules.shop import shop


def test_a_service_that_keeps_every_rule_has_no_finding():
    assert [(f.rule.id, f.text) for f in check(shop())] == []
