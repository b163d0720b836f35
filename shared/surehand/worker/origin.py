"""Where an exception comes from: names of types, files and functions, and line numbers. Never a text or a value.

An exception's text may hold anything of a payload; the place where it was raised holds only what is in the repository.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from surehand.outcomes import Fate
from surehand.worker.handing_over import HandOver

#: How many frames are told, and how many exceptions of a chain.
_MOST = 5
#: A name is cut here; nobody writes a longer one by hand.
_LONGEST = 120
_OURS = str(Path(__file__).parent.parent)
_STANDARD = str(Path(threading.__file__).parent)
_LIBRARIES = ("/site-packages/", "/dist-packages/")


@dataclass(frozen=True, slots=True)
class Origin:
    """The *type* of an exception, where it was *raised_at* (the last frame is the raising one), and what it came of.

    A frame is `handlers/orders.py:41 charge_order`; *caused_by* are `Type at frame` for what it was raised from.
    """

    type: str
    raised_at: tuple[str, ...] = ()
    caused_by: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it as a sentence has it: `ValueError at shop.py:12 charge`."""
        where = f" at {' > '.join(self.raised_at)}" if self.raised_at else ""
        return f"{self.type}{where}" + "".join(f", from {cause}" for cause in self.caused_by)


def origin(error: BaseException) -> Origin | None:
    """Return where an exception comes from; None for a fate that was chosen by itself, which is no accident.

    Of a fate raised `from` an exception it is that exception's.
    """
    try:
        accident = error.__cause__ if isinstance(error, Fate) and not error.miscoded else error
        if accident is None or isinstance(error, HandOver):
            return None
        first, *others = _chain(accident)
        causes = (" at ".join([_name(one), *_frames(one)[-1:]]) for one in others)
        return Origin(_name(first), _frames(first), tuple(causes))
    except Exception:  # noqa: BLE001 - an exception whose own attributes raise has no place, and harms no neighbour
        return Origin(_name(error))


def _chain(error: BaseException) -> list[BaseException]:
    """An exception and what it was raised from; of a group its first one stands for all."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and not any(one is other for other in chain) and len(chain) < _MOST:
        chain.append(one)
        if one.__cause__ is None and isinstance(one, BaseExceptionGroup):
            one = one.exceptions[0]
        else:
            one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return chain


def _frames(error: BaseException) -> tuple[str, ...]:
    """The innermost frames, and of the outer ones the last in code that is no library's, if all of those are."""
    codes = list(_codes(error))
    kept = codes[-_MOST:]
    if not any(_own(code) for code, _ in kept):
        kept = [*[one for one in codes[:-_MOST] if _own(one[0])][-1:], *kept[-_MOST + 1 :]]
    return tuple(f"{_relative(code.co_filename)}:{line} {code.co_qualname[:_LONGEST]}" for code, line in kept)


def _codes(error: BaseException) -> Iterator[tuple[CodeType, int]]:
    """The frames from the handler's on: above it is the engine, and at the end its alarm."""
    traceback, inside = error.__traceback__, False
    while traceback is not None:
        code, line = traceback.tb_frame.f_code, traceback.tb_lineno
        inside = inside or not _engine(code.co_filename)
        if inside and not code.co_filename.endswith("surehand/worker/deadline.py"):
            yield code, line
        traceback = traceback.tb_next


def _engine(file: str) -> bool:
    return file.startswith(_OURS) or _standard(file)  # threads and loops stand between the engine and a handler


def _own(code: CodeType) -> bool:
    file = code.co_filename
    return not (file.startswith((_OURS, "<")) or _standard(file) or any(name in file for name in _LIBRARIES))


def _standard(file: str) -> bool:
    return file.startswith(_STANDARD) and not any(name in file for name in _LIBRARIES)


def _relative(file: str) -> str:
    """A path as it is imported, so that it is the same on every machine; a made-up name might be made of a value."""
    if file.startswith("<"):
        return "<generated>"
    roots = [root for root in sys.path if root and file.startswith(root.rstrip("/") + "/")]
    if roots:
        return file[len(max(roots, key=len).rstrip("/")) + 1 :]
    return "/".join(Path(file).parts[-2:]) if Path(file).is_absolute() else file


def _name(error: BaseException) -> str:
    return type(error).__name__[:_LONGEST]
