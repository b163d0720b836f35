"""`surehand ledger sweep`: the deployed sweep's verdict, with advice, and what that sweep costs."""

from __future__ import annotations

from surehand.aws.items import encode, key_of
from surehand.declare.sweeping import cost
from surehand.states import State
from surehand.testing import World
from tests.ops.conftest import Surehand
from tests.scenarios.test_sweep import NOW, standing


def test_it_says_of_each_stuck_operation_why_and_what_to_do(depot: World, surehand: Surehand) -> None:
    import boto3

    ages = {
        "abandoned": standing(State.LEASED, "1", "parcels", lease_until=NOW),
        "message gone": standing(State.RETRYABLE_FAILED, "2", "parcels", not_before=NOW),
    }
    for operation in ages.values():
        item = {**key_of(operation.id), **encode(operation), "expires_at": {"N": "99999999999"}}
        boto3.client("dynamodb").put_item(TableName="depot-test-ledger", Item=item)
    said = surehand("ledger", "sweep", "--json")
    assert said.status == 1
    assert {line["kind"]: line["operation"] for line in said.lines} == {kind: one.id for kind, one in ages.items()}
    assert all(line["advice"] for line in said.lines)


def test_its_cost_follows_from_the_tables_size_and_nothing_is_read(depot: World, surehand: Surehand) -> None:
    said = surehand("ledger", "sweep", "--cost", "--json")
    (line,) = said.lines
    assert said.status == 0
    assert line["table"] == "depot-test-ledger"
    expected = cost(line["bytes"])
    assert (line["pass_seconds"], line["dollars_a_month"]) == (300, round(expected.dollars, 2))
