"""`python -m bench [all|speed|versus|faults] [--json]`: figures beside Powertools, hostile schedules, a fault soak."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from json import dumps as encode

from bench.faults.soak import Tally, soak
from bench.figures import Figure
from bench.machine import machine
from bench.money import page as cost_page
from bench.money.measure import money
from bench.speed import page as speed_page
from bench.speed.cold import asset, cold
from bench.speed.cpu import cpu
from bench.speed.engines import engines
from bench.speed.growth import growth
from bench.speed.kinds import kinds
from bench.speed.latency import latency
from bench.speed.memory import memory
from bench.speed.profile import profile, timeline
from bench.speed.units import units
from bench.versus import page, table

Measurement = Callable[..., Iterator[Figure]]
SPEED: Mapping[str, Measurement] = {
    "latency": latency,
    "cpu": cpu,
    "cold": cold,
    "asset": asset,
    "profile": profile,
    "timeline": timeline,
    "units": units,
    "kinds": kinds,
    "memory": memory,
    "engines": engines,
    "growth": growth,
    "money": money,
}


def main(arguments: list[str]) -> int:
    """Run what is asked for; 0 if every figure keeps its targets and surehand every promise but those it concedes."""
    asked = _parser().parse_args(arguments)
    done = 0
    if asked.what in ("all", "versus"):
        done |= versus(asked.only, json=asked.json, write=asked.write)
    if asked.what in ("all", "faults"):
        done |= faults(asked.messages, seed=asked.seed, workers=asked.workers, json=asked.json)
    if asked.what in ("all", "speed"):
        done |= speed(asked.only, runs=asked.runs, json=asked.json, write=asked.write)
    return done


def speed(names: Sequence[str], *, runs: int, json: bool, write: bool) -> int:
    """Measure and print the figures of these names: text while it runs, JSON in the last lines if asked for."""
    figures = [machine()]
    print(figures[0].as_text(), flush=True)
    for name in names or SPEED:
        for figure in SPEED[name](runs=runs):
            figures.append(figure)
            print(figure.as_text(), flush=True)
    if write:
        _write(figures)
    if json:
        for figure in figures:
            print(figure.as_json())
    return 0 if all(figure.met is not False for figure in figures) else 1


def _write(figures: Sequence[Figure]) -> None:
    """Write the pages for which everything was measured."""
    names = {figure.name for figure in figures}
    if "money" in names:
        print(f"wrote {cost_page.write(figures)}", file=sys.stderr)
    if {"latency", "cpu"} <= names:
        print(f"wrote {speed_page.write(figures)}", file=sys.stderr)


def versus(names: Sequence[str], *, json: bool, write: bool) -> int:
    """Play the schedules on both sides and print the table, or one JSON object for each schedule."""
    rows = []
    for row in table.play(names):
        rows.append(row)
        print(row.as_json() if json else row.as_text(), flush=True)
    if write:
        print(f"wrote {page.write(rows)}", file=sys.stderr)
    return 0 if all(row.surehand.held or row.schedule.conceded for row in rows) else 1


def faults(messages: int, *, seed: int, workers: int, json: bool) -> int:
    """Run the soak and print its tally; 0 if everything was kept that is promised."""
    tally = Tally()
    for tally in soak(messages, seed=seed, workers=workers):
        print(
            f"{tally.messages} messages, {tally.seconds:.0f} s, {'kept' if tally.kept else 'BROKEN'}", file=sys.stderr
        )
    print(encode({"figure": "faults", "seed": seed, **tally.told()}, indent=None if json else 2))
    return 0 if tally.kept else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("all", "speed", "versus", "faults"), default="all")
    parser.add_argument("--only", action="append", default=[], help="one figure or schedule; may be repeated")
    parser.add_argument("--runs", type=int, default=15, help="repetitions of each measurement (15)")
    parser.add_argument("--json", action="store_true", help="one JSON object for each figure or schedule")
    parser.add_argument("--messages", type=int, default=20_000, help="of the fault soak (20,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the fault soak (1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes of the fault soak")
    parser.add_argument("--write", action="store_true", help="write the page in docs/ too")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
