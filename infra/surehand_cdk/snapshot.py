"""SnapStart: a version is initialised when it is published, and environments begin as copies of its snapshot.

Only versions and aliases of them have one, so whatever invokes the function must call the alias. The run time builds
anew after each restore what must not be shared (`surehand.aws.snapshots`).

Source: https://docs.aws.amazon.com/lambda/latest/dg/snapstart.html
"""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from surehand_cdk.acknowledged import acknowledge

#: The alias's name, the same at every deployment: what calls it need not change.
ALIAS = "live"
PUBLISHED: Mapping[str, str] = {
    "Annotation::@aws-cdk/aws-lambda:snapStartRequirePublish": "Its version is published, and the alias leads to it.",
}


def published(scope: Construct, function: lambda_.Function) -> lambda_.Alias:
    """Return the alias of the function's current version, which CDK publishes anew when code or settings change.

    The version before is deleted once the alias has left it: its snapshot would cost as much as the new one's.
    """
    acknowledge(function, PUBLISHED)
    return lambda_.Alias(scope, "Live", alias_name=ALIAS, version=function.current_version)
