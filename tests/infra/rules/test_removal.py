"""What counts as kept: CloudFormation has two deletion policies that retain, and one such replacement policy."""

from __future__ import annotations

from typing import Any

import pytest

from surehand_cdk.rules import check
from tests.infra.rules.broken_stacks import Resources
from tests.infra.rules.shop import broken

KEEPING = ("Retain", "RetainExceptOnCreate")


def found(**attributes: Any) -> set[tuple[str, str]]:
    """Rule and resource of what is found in production, with these attributes on everything that is kept."""

    def change(core: Resources, _: Resources) -> None:
        for body in core.values():
            if "DeletionPolicy" in body:
                body.update(attributes)

    return {(finding.rule.id, finding.resource) for finding in check(broken(change))}


def found_of_a_bare_ledger(policy: str) -> set[str]:
    """Rules that speak up outside of production about a ledger that can neither be restored nor is protected."""

    def change(core: Resources, _: Resources) -> None:
        for body in core.values():
            variables = body["Properties"].get("Environment", {}).get("Variables", {})
            if "SUREHAND_STAGE" in variables:
                variables["SUREHAND_STAGE"] = "dev"
        core["Ledger"]["DeletionPolicy"] = policy
        del core["Ledger"]["Properties"]["PointInTimeRecoverySpecification"]
        del core["Ledger"]["Properties"]["DeletionProtectionEnabled"]

    return {finding.rule.id for finding in check(broken(change))} & {"T02", "T03"}


@pytest.mark.parametrize("policy", KEEPING)
def test_what_either_policy_keeps_outlives_its_stack(policy: str):
    assert found(DeletionPolicy=policy) == set()


@pytest.mark.parametrize("policy", ["Delete", "RetainExceptOnCreate"])
def test_a_replaced_resource_is_kept_by_retain_alone(policy: str):
    """RetainExceptOnCreate is no UpdateReplacePolicy: CloudFormation would refuse the template."""
    assert ("N03", "ChargeQueue") in found(UpdateReplacePolicy=policy)


@pytest.mark.parametrize("policy", KEEPING)
def test_a_ledger_that_either_policy_keeps_must_be_restorable_and_protected(policy: str):
    assert found_of_a_bare_ledger(policy) == {"T02", "T03"}


def test_a_ledger_that_goes_with_its_stack_need_not_be():
    assert found_of_a_bare_ledger("Delete") == set()
