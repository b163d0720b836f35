"""Strike inside a handler's own code: at any of its lines the process dies, or the deadline comes.

A trace function counts the lines that run in the handler's file and those beside it, and raises at the chosen one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any


@dataclass(slots=True)
class Strike:
    """Raise what *make* makes at the *at*-th line (from 0) of the first run; None only counts.

    *folder* is where the handler's code is. `lines` is how many lines ran, `place` where it struck, `swallowed`
    whether the handler returned all the same.
    """

    folder: str
    at: int | None = None
    make: Callable[[], BaseException] | None = None
    lines: int = 0
    place: str | None = None
    swallowed: bool = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count, and strike, in the body: one run of the handler. After it has struck once it does nothing."""
        if self.place is not None:
            yield
            return
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
            self.swallowed = self.place is not None
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        ours = str(Path(frame.f_code.co_filename).parent) == self.folder
        return self._line if ours and frame.f_code.co_name != "<module>" else None

    def _line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            if self.lines == self.at and self.make is not None and self.place is None:
                self.place = f"line {frame.f_lineno} of {Path(frame.f_code.co_filename).name}"
                raise self.make()
            self.lines += 1
        return self._line
