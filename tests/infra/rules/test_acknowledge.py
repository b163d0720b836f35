"""A rule can be acknowledged in the template, by its id and with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from surehand_cdk.rules import check
from tests.infra.rules.shop import broken


def short_with(acknowledged: Any) -> list[str]:
    def change(core: dict[str, Any], _: dict[str, Any]) -> None:
        core["ChargeQueue"]["Properties"]["VisibilityTimeout"] = 60
        core["ChargeQueue"]["Metadata"] = {"surehand": {"acknowledged": acknowledged}}

    return [finding.rule.id for finding in check(broken(change))]


@pytest.mark.parametrize("id", ["Q01", "surehand::Q01"])
def test_an_acknowledged_rule_is_left_out(id: str):
    assert short_with({id: "the handler never runs longer than a second"}) == []


@pytest.mark.parametrize("acknowledged", [{"Q01": ""}, {"Q01": "  "}, {"Q01": None}, {"Q02": "another"}, ["Q01"], None])
def test_an_acknowledgement_without_reason_or_for_another_rule_counts_for_nothing(acknowledged: Any):
    assert short_with(acknowledged) == ["Q01"]


def test_an_acknowledgement_holds_for_its_resource_only():
    def change(core: dict[str, Any], _: dict[str, Any]) -> None:
        for queue in ("ChargeQueue", "ExportQueue"):
            core[queue]["Properties"]["VisibilityTimeout"] = 60
        core["ChargeQueue"]["Metadata"] = {"surehand": {"acknowledged": {"Q01": "known"}}}

    assert [finding.resource for finding in check(broken(change))] == ["ExportQueue"]
