"""Alarms that name the cause: `Watch` derives them from the declarations (docs/runbook.md, docs/alarms.md)."""

from __future__ import annotations

from .profile import Profile
from .traffic import Traffic
from .watch import Watch

__all__ = ["Profile", "Traffic", "Watch"]
