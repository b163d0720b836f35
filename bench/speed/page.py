"""docs/speed.md, written from the figures of one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.figures import Figure

PAGE = Path(__file__).resolve().parents[2] / "docs" / "speed.md"
NOTE = Path(__file__).with_name("note.md")

_HEAD = """\
# Speed, beside Powertools

*Written by `python -m bench speed --write`, on {machine}.*

Both sides are measured in turns in one process (a fresh interpreter for cold starts), each first in every other turn;
values are medians. Powertools for AWS Lambda (Python) {powertools} is set up as its documentation recommends: batch
processor with a pydantic model, idempotency with the context registered, its logger writing one line for each record.
DynamoDB is a stand-in below botocore (`bench/wire`): every request is signed and serialised as usual, and answered
after a round trip of fixed length. Its own work is part of the round trip, and is subtracted where CPU is the figure.

"""


def write(figures: Sequence[Figure]) -> Path:
    """Write the page and return its path."""
    PAGE.write_text(page(figures), encoding="utf-8")
    return PAGE


def page(figures: Sequence[Figure]) -> str:
    """Return the page's text."""
    on = next(one.values for one in figures if one.name == "machine")
    head = _HEAD.format(
        machine=f"{on['processor']}, {on['cores']} cores, Python {on['python']}, boto3 {on['boto3']}",
        powertools=on["powertools"],
    )
    return head + "\n".join(_sections(figures)) + "\n" + NOTE.read_text(encoding="utf-8")


def _sections(figures: Sequence[Figure]) -> Iterator[str]:
    yield _compared(
        "Batch latency", "ms for a batch of fresh messages, handler returns at once", figures, "latency", "ms"
    )
    yield _compared("CPU", "µs for each record, no round trip", figures, "cpu", "us")
    yield _compared("Cold start", "ms from nothing to the first response, fresh interpreter", figures, "cold", "ms")
    yield _compared("Real engines", "ms for a batch of fresh messages, over loopback", figures, "engine", "ms")
    for name, title in (
        ("timeline", "One batch of ten at 5 ms, from event to answer"),
        ("profile", "Profile of the hot path (shares of own time)"),
        ("imports", "What a cold start imports (`-X importtime`, ms of own time)"),
        ("units", "What a message consumes"),
        ("kinds", "Duplicates, retries, rejections, FIFO, parallel (for each message)"),
        ("memory", "Memory"),
        ("growth", "Growth"),
    ):
        yield from _listed(title, [one for one in figures if one.name == name])


def _compared(title: str, unit_text: str, figures: Sequence[Figure], name: str, unit: str) -> str:
    rows = [one for one in figures if one.name == name]
    if not rows:
        return ""
    under = list(rows[0].under)
    lines = [
        f"## {title}\n\n{unit_text}\n",
        "| " + " | ".join([*under, "surehand", "Powertools", "times", "target", "runs", "noise"]) + " |",
        "|---" * (len(under) + 6) + "|",
    ]
    for one in rows:
        target = ", ".join(map(str, one.targets))
        verdict = "" if one.met is None else f"{'✓' if one.met else '✗'} {target}"
        values = one.values
        cells = [
            *(str(one.under[key]) for key in under),
            _spread(values[f"surehand_{unit}"], values["surehand"]["quartiles"]),
            _spread(values[f"powertools_{unit}"], values["powertools"]["quartiles"]),
            f"{values['times_faster']:.2f}",
            verdict,
            str(values["surehand"]["runs"]),
            f"{values['noise']:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _spread(median: float, quartiles: Sequence[float]) -> str:
    return f"{median:g} ({quartiles[0]:g} to {quartiles[1]:g})"


def _listed(title: str, rows: Sequence[Figure]) -> Iterator[str]:
    if not rows:
        return
    yield f"## {title}\n"
    for one in rows:
        under = ", ".join(f"{key} {value}" for key, value in one.under.items())
        values = ", ".join(f"{key} {value}" for key, value in one.values.items() if not isinstance(value, dict))
        verdict = "" if one.met is None else " ✓" if one.met else f" ✗ ({', '.join(map(str, one.targets))})"
        yield f"* **{under}**: {values}{verdict}"
    yield ""
