"""A queue or table that gets another logical id is replaced, and what it held is lost to the service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cfnlint.api import lint_all  # type: ignore[import-untyped]

from app_stacks.core import CoreStack
from app_stacks.settings import Settings
from tests.infra.deployed import Deployed
from tests.infra.synthesis import WITHOUT_CODE, new_app, synthesise

pytestmark = pytest.mark.infra

#: Logical id → physical name, as deployed once. Lines are added with new handlers; a line is changed or removed only
#: together with a plan for the messages in that queue.
KNOWN: dict[str, str] = json.loads(Path(__file__).with_name("identities.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def identities() -> dict[str, str]:
    """Logical id → physical name of everything in the core stack that holds messages or operations."""
    app = new_app(env="prod", **WITHOUT_CODE)
    CoreStack(app, Settings.of(app))
    stack = synthesise(app)
    names = {"AWS::SQS::Queue": "QueueName", "AWS::DynamoDB::Table": "TableName"}
    return {
        id: resource["Properties"][attribute]
        for kind, attribute in names.items()
        for id, resource in stack.of_type(kind).items()
    }


def test_no_queue_or_table_has_silently_become_another(identities: dict[str, str]) -> None:
    assert {id: name for id, name in identities.items() if id in KNOWN} == KNOWN


def test_every_queue_and_table_is_on_the_list(identities: dict[str, str]) -> None:
    assert {id: name for id, name in identities.items() if id not in KNOWN} == {}, "add these to identities.json"


def test_cfn_lint_finds_no_fault(shop: Deployed) -> None:
    found = lint_all(json.dumps(shop.synthesis.template))
    # W3005: CDK writes a DependsOn that a reference implies already.
    assert [str(match) for match in found if match.rule.severity != "informational" and match.rule.id != "W3005"] == []
