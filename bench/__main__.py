"""`python -m bench [speed|versus|faults] [--json]`; without a name everything, one after the other."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping

from bench.figures import Figure
from bench.machine import machine
from bench.speed.cold import cold
from bench.speed.cpu import cpu
from bench.speed.latency import latency
from bench.speed.units import units

Measurement = Callable[..., Iterator[Figure]]
SPEED: Mapping[str, Measurement] = {"latency": latency, "cpu": cpu, "cold": cold, "units": units}


def main(arguments: list[str]) -> int:
    """Run what is asked for; 0 if every figure keeps its targets."""
    asked = _parser().parse_args(arguments)
    return speed(asked.only or list(SPEED), runs=asked.runs, json=asked.json)


def speed(names: list[str], *, runs: int, json: bool) -> int:
    """Measure and print the figures of these names: text while it runs, JSON in the last lines if asked for."""
    figures = [machine()]
    print(figures[0].as_text(), flush=True)
    for name in names:
        for figure in SPEED[name](runs=runs):
            figures.append(figure)
            print(figure.as_text(), flush=True)
    if json:
        for figure in figures:
            print(figure.as_json())
    return 0 if all(figure.met is not False for figure in figures) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("all", "speed"), default="all")
    parser.add_argument("--only", action="append", choices=list(SPEED), help="one figure; may be given several times")
    parser.add_argument("--runs", type=int, default=15, help="repetitions of each measurement (15)")
    parser.add_argument("--json", action="store_true", help="one JSON object for each figure as the last lines")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
