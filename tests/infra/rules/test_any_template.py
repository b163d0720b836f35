"""The check answers for every template, however odd: it reports, and never breaks the synthesis by itself."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from surehand_cdk.rules import check
from tests.infra.rules.shop import shop

ODD: tuple[Any, ...] = (
    None,
    "",
    "text",
    0,
    [],
    {},
    True,
    [None],
    {"Ref": "Nowhere"},
    {"Ref": "AWS::NoValue"},
    {"Ref": "AWS::Region"},
    {"Fn::If": ["Prod", 1, 2]},
    {"Fn::GetAtt": "ChargeQueue.Arn"},
    {"Fn::GetAtt": ["Nowhere", "Arn"]},
    {"Fn::Sub": "${ChargeQueue}-${Nowhere.Arn}-${AWS::Region}"},
    {"Fn::Join": ["-", [{"Ref": "ChargeQueue"}, {"Ref": "Nowhere"}]]},
    {"Fn::Select": [9, ["a"]]},
    {"Fn::Split": [",", "a,b"]},
    {"Fn::ImportValue": {"Ref": "Nowhere"}},
    [{"Fn::If": ["Prod", {"Ref": "ChargeQueue"}, {"Ref": "AWS::NoValue"}]}],
)


def places(node: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place below the properties of a resource."""
    found: list[tuple[str | int, ...]] = []
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        if len(path) >= 2:
            found.append((*path, key))
        found += places(value, (*path, key))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_an_odd_value_in_any_place_is_answered(seed: int):
    chance = random.Random(seed)
    for _ in range(10):
        templates = shop()
        for name in templates:
            resources = templates[name]["Resources"]
            for place in chance.sample(places(resources), 3):
                node: Any = resources
                try:
                    for step in place[:-1]:
                        node = node[step]
                    node[place[-1]] = copy.deepcopy(chance.choice(ODD))
                except (TypeError, KeyError, IndexError):
                    continue  # an earlier change took the place away
        assert isinstance(check(templates), list)


@pytest.mark.parametrize(
    "body", [{}, {"Resources": {}}, {"Resources": {"A": {}}}, {"Resources": {"A": None}}, {"Outputs": {}}]
)
def test_a_template_without_anything_is_answered(body: dict[str, Any]):
    assert check({"empty": body}) == []
