"""Rules that a synthesised app must keep, checked from its templates (docs/rules.md).

``check`` is plain Python over template dicts. `SurehandRules` and `acknowledge` need the CDK; they are imported when
asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .catalogue import RULES
from .check import check
from .rule import Finding, Level, Rule
from .template import Template, apply

if TYPE_CHECKING:
    from .plugin import SurehandRules, acknowledge

__all__ = ["RULES", "Finding", "Level", "Rule", "SurehandRules", "Template", "acknowledge", "apply", "check"]


def __getattr__(name: str) -> Any:
    if name in ("SurehandRules", "acknowledge"):
        from . import plugin

        return getattr(plugin, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
