"""A measured figure, as one JSON object and as one line of text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.spread import Compared


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure is held to: *of* names the measured number, which must be at least or at most *bound*."""

    of: str
    bound: float
    least: bool = False

    def met(self, values: Mapping[str, Any]) -> bool:
        """Tell whether the figure's number keeps the bound."""
        value = float(values[self.of])
        return value >= self.bound if self.least else value <= self.bound

    def __str__(self) -> str:
        return f"{self.of} {'≥' if self.least else '≤'} {self.bound:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure. *values* are what was measured, under the circumstances of *under*."""

    name: str
    under: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[Target, ...] = ()
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether every target is met; None where there is none."""
        return all(target.met(self.values) for target in self.targets) if self.targets else None

    def as_json(self) -> str:
        """Return one line of JSON."""
        told: dict[str, Any] = {"figure": self.name, **self.under, **self.values}
        if self.targets:
            told |= {"targets": [str(target) for target in self.targets], "met": self.met}
        if self.note:
            told["note"] = self.note
        return json.dumps(told, ensure_ascii=False)

    def as_text(self) -> str:
        """Return one line for a reader."""
        under = " ".join(f"{name}={value}" for name, value in self.under.items())
        values = "  ".join(
            f"{name} {_text(value)}" for name, value in self.values.items() if not isinstance(value, dict)
        )
        verdict = "" if self.met is None else "  ✓" if self.met else "  ✗ " + ", ".join(map(str, self.targets))
        return f"{self.name:<12} {under:<34} {values}{verdict}{'  (' + self.note + ')' if self.note else ''}"


def compared(
    name: str, under: Mapping[str, Any], both: Compared, *, unit: str, targets: tuple[Target, ...] = (), note: str = ""
) -> Figure:
    """Return the figure of two sides: medians, how many times ours goes into the peer's, and the spreads."""
    values = {
        f"surehand_{unit}": _short(both.ours.median),
        f"powertools_{unit}": _short(both.peer.median),
        "times_faster": _short(both.peer.median / both.ours.median),
        "ratio": _short(both.ours.median / both.peer.median),
        "noise": _short(both.noise),
        "surehand": both.ours.rounded(),
        "powertools": both.peer.rounded(),
    }
    return Figure(name=name, under=under, values=values, targets=targets, note=note)


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
