"""The rules judge templates where there is no CDK: another tool's output, or a check in CI without Node."""

from __future__ import annotations

import subprocess
import sys

import pytest

import surehand_cdk

CHECK = """
import sys
sys.modules.update(dict.fromkeys(("aws_cdk", "constructs", "jsii")))
from surehand_cdk.rules import Template, check
queue = {"Type": "AWS::SQS::Queue"}
url = {"Type": "AWS::Lambda::Url", "Properties": {"AuthType": "NONE", "TargetFunctionArn": "f"}}
print(*[finding.rule.id for finding in check({"t": Template.read("t", {"Resources": {"Queue": queue, "Url": url}})})])
"""


def test_a_template_is_judged_without_the_cdk() -> None:
    said = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=True)

    assert "W01" in said.stdout.split()


@pytest.mark.infra
def test_every_public_name_of_the_cdk_side_is_there() -> None:
    assert set(surehand_cdk._HOMES) == set(surehand_cdk.__all__)
    assert all(getattr(surehand_cdk, name).__name__ == name for name in surehand_cdk.__all__)
