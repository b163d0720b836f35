"""The CDK side of surehand: a service's declarations become its stacks.

`ServiceConstruct` and `Watch` need the `cdk` extra and Node; they need no Docker and no AWS credentials to synthesise.
Names are imported when asked for, so that `surehand_cdk.rules.check`, plain Python over templates, needs neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surehand_cdk.bundling import BundleError, Target
    from surehand_cdk.edge import Edge
    from surehand_cdk.function import HandlerResources
    from surehand_cdk.service import ServiceConstruct
    from surehand_cdk.validation import validate
    from surehand_cdk.watch import Profile, Traffic, Watch
    from surehand_cdk.webhooks import Webhooks

__all__ = [
    "BundleError",
    "Edge",
    "HandlerResources",
    "Profile",
    "ServiceConstruct",
    "Target",
    "Traffic",
    "Watch",
    "Webhooks",
    "validate",
]

_HOMES = {
    "BundleError": "bundling",
    "Edge": "edge",
    "HandlerResources": "function",
    "Profile": "watch",
    "ServiceConstruct": "service",
    "Target": "bundling",
    "Traffic": "watch",
    "Watch": "watch",
    "Webhooks": "webhooks",
    "validate": "validation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"surehand_cdk.{_HOMES[name]}"), name)
