"""Everything that judges a synthesis, in one order."""

from __future__ import annotations

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks
from cdk_preflight import Preflight

from surehand_cdk.rules import SurehandRules


def validate(app: App) -> None:
    """Refuse to synthesise *app* while a layer finds something that nobody has acknowledged.

    In order: CDK's own engine (strict: what it calls an error is one), cdk-preflight's deploy-time failures, cdk-nag's
    AwsSolutions, and the rules of this framework (docs/rules.md).
    """
    Preflight.apply(app, strict=True)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app), SurehandRules())
