"""The CDK side of surehand: a service's declarations become its stacks.

`ServiceConstruct` needs the `cdk` extra and Node; it needs no Docker and no AWS credentials to synthesise.
"""

from surehand_cdk.bundling import BundleError, Target
from surehand_cdk.edge import Edge
from surehand_cdk.function import HandlerResources
from surehand_cdk.service import ServiceConstruct
from surehand_cdk.validation import validate
from surehand_cdk.webhooks import Webhooks

__all__ = ["BundleError", "Edge", "HandlerResources", "ServiceConstruct", "Target", "Webhooks", "validate"]
