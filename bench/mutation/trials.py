"""The tests that face the mutants: which lines each of them reaches, and what they say of one mutant.

A pytest plugin. Everything is imported and collected once; each test of the survey and each mutant then has a process
of its own, forked from there, so that nothing is imported twice and no mutant outlives its trial.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from bench.mutation.mutants import Mutant

PASSED, FAILED = 0, 1
#: Beyond this many seconds of computing a test is not cheap, and faces no mutant.
LONGEST = 4
#: The tests of one mutant together, as the survey timed them, unless a run says otherwise.
BUDGET = 10.0
#: Seconds that pass without computing before a test counts as stuck.
STUCK = 60


@dataclass(slots=True)
class Reach:
    """Which lines of each module one test reaches, and how long it takes."""

    seconds: float
    lines: dict[str, list[int]]


@dataclass
class Trials:
    """Surveys the tests, then tries *mutants* on them. *files* are the mutated ones, by module."""

    files: Mapping[str, str]
    mutants: Callable[[], Iterator[Mutant]]
    tell: Callable[[Mutant, str], None]
    survey: Path | None = None
    budget: float = BUDGET
    reaches: dict[str, Reach] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.survey is not None and self.survey.exists():
            kept = map(json.loads, self.survey.read_text().splitlines())
            self.reaches = {name: Reach(**reach) for name, reach in kept}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's own loop."""
        items = {item.nodeid: item for item in session.items if "ministack" not in item.nodeid}
        functions = _functions(set(self.files.values()))
        gc.collect()
        gc.freeze()  # so that the forks share the memory
        for name, item in items.items():
            if name not in self.reaches and (reach := self._survey(item)) is not None:
                self.reaches[name] = reach
                self._keep(name, reach)
        self.left_out = [name for name in items if name not in self.reaches]
        for mutant in self.mutants():
            at_import = mutant.scope is None or not any(self._reached(mutant, one) for one in self.reaches.values())
            names = self._facing(mutant, items, at_import=at_import)
            if not names:
                self.tell(mutant, "survived (no cheap test reaches it)")
            elif at_import or not _fits(mutant, functions):
                verdict = _in_a_fresh_import(mutant, Path(self.files[mutant.module]), names, self._time(names))
                unreached = verdict == "survived" and at_import and mutant.scope is not None
                self.tell(mutant, "survived (no cheap test reaches it)" if unreached else verdict)
            else:
                self.tell(mutant, _in_place(mutant, functions, [items[name] for name in names], self._time(names)))
        return True

    def _keep(self, name: str, reach: Reach) -> None:
        if self.survey is not None:
            with self.survey.open("a") as file:  # line by line: whoever ends this run keeps what was surveyed
                file.write(json.dumps([name, asdict(reach)]) + "\n")

    def _survey(self, item: pytest.Item) -> Reach | None:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _limit(LONGEST)
            lines = _traced(set(self.files.values()))
            began = time.process_time()
            passed = _passes(item)
            sys.settrace(None)
            found = {module: sorted(lines[file]) for module, file in self.files.items() if lines[file]}
            told = {"seconds": time.process_time() - began, "lines": found}
            with os.fdopen(writing, "w") as pipe:
                json.dump(told if passed else None, pipe)
            os._exit(PASSED)
        os.close(writing)
        timer = threading.Timer(STUCK, os.kill, (child, signal.SIGKILL))
        timer.start()
        with os.fdopen(reading) as pipe:
            text = pipe.read()
        timer.cancel()
        os.waitpid(child, 0)
        answer = json.loads(text) if text else None
        return Reach(**answer) if answer else None

    def _facing(self, mutant: Mutant, items: Mapping[str, pytest.Item], *, at_import: bool) -> list[str]:
        """The tests that reach the changed statement, cheapest first.

        What runs at import no test reaches by itself. Then: those that reach the module, or whose file names it.
        """
        faced: list[str] = []
        spent = 0.0
        for name, reach in sorted(self.reaches.items(), key=lambda one: one[1].seconds):
            if name not in items or spent >= self.budget:
                continue
            if at_import:
                faces = mutant.module in reach.lines or f"surehand.{mutant.module} import" in _text(items[name].path)
            else:
                faces = self._reached(mutant, reach)
            if faces:
                faced.append(name)
                spent += reach.seconds
        return faced

    @staticmethod
    def _reached(mutant: Mutant, reach: Reach) -> bool:
        return any(line in mutant.lines for line in reach.lines.get(mutant.module, ()))

    def _time(self, names: Sequence[str]) -> float:
        return sum(self.reaches[name].seconds for name in names)


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _passes(item: pytest.Item) -> bool:
    reports = runtestprotocol(item, log=False, nextitem=None)
    return not any(report.failed for report in reports)


def _traced(files: set[str]) -> dict[str, set[int]]:
    lines: dict[str, set[int]] = {file: set() for file in files}

    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            lines[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def trace(frame: FrameType, _event: str, _: object) -> Any:
        return local if frame.f_code.co_filename in lines else None

    threading.settrace(trace)
    sys.settrace(trace)
    return lines


Functions = Mapping[tuple[str, str], list[FunctionType]]


def _functions(files: set[str]) -> Functions:
    """Every function of these files, by file and qualified name: whoever imported it holds the same object."""
    found: dict[tuple[str, str], list[FunctionType]] = {}
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            found.setdefault((one.__code__.co_filename, one.__code__.co_qualname), []).append(one)
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _fits(mutant: Mutant, functions: Functions) -> bool:
    """Whether its code can take a living function's place: without its `super()` a method closes over less."""
    [code] = [one for one in _codes(mutant.code) if one.co_qualname == mutant.scope]
    living = functions[code.co_filename, code.co_qualname]
    return all(one.__code__.co_freevars == code.co_freevars for one in living)


def _in_place(mutant: Mutant, functions: Functions, items: Sequence[pytest.Item], seconds: float) -> str:
    [code] = [one for one in _codes(mutant.code) if one.co_qualname == mutant.scope]

    def passes() -> bool:
        for function in functions[code.co_filename, code.co_qualname]:
            function.__code__ = code
        return all(_passes(item) for item in items)

    return _in_a_child(passes, seconds)


def _in_a_fresh_import(mutant: Mutant, file: Path, names: Sequence[str], seconds: float) -> str:
    """Tables and defaults are read at import: the file itself is changed, which is one of the copy."""
    kept = file.read_bytes()
    if not _passes_unchanged(tuple(names), seconds):
        raise RuntimeError(f"Without a mutant these tests fail when {mutant.module} is imported anew: {names}.")
    file.write_text(mutant.source, encoding="utf-8")
    try:
        return _in_a_child(lambda: _passes_anew(names), seconds)
    finally:
        file.write_bytes(kept)


def _passes_anew(names: Sequence[str]) -> bool:
    """Forget what was imported from the copy, and start pytest again."""
    here = str(Path.cwd())
    places = {
        name: [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
        for name, module in sys.modules.items()
    }
    for name, found in places.items():
        if any(place.startswith(here) for place in found if place):
            del sys.modules[name]
    return pytest.main(["-x", "-q", "-p", "no:cacheprovider", *names]) == pytest.ExitCode.OK


@cache
def _passes_unchanged(names: Sequence[str], seconds: float) -> bool:
    return _in_a_child(lambda: _passes_anew(names), seconds) == "survived"


def _in_a_child(passes: Callable[[], bool], seconds: float) -> str:
    child = os.fork()
    if child == 0:
        try:
            _quiet()
            _limit(5 + int(3 * seconds))
            os._exit(PASSED if passes() else FAILED)
        finally:
            os._exit(FAILED)
    timer = threading.Timer(STUCK + 10 * seconds, os.kill, (child, signal.SIGKILL))
    timer.start()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    return _verdict(status)


def _verdict(status: int) -> str:
    if os.WIFSIGNALED(status):
        return "killed (by the clock)"
    return "survived" if os.WEXITSTATUS(status) == PASSED else "killed"


def _limit(seconds: int) -> None:
    """End this process when it has computed so long; a busy machine makes no difference."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _quiet() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
