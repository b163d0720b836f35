"""What an exception group says of an attempt: tasks choose fates, too, and a TaskGroup raises theirs as a group."""

from __future__ import annotations

from collections.abc import Iterator

from surehand.errors import CursorUnreadable
from surehand.outcomes import Cancel, Defer, Fate, Reject, Retry, Unknown
from surehand.worker.conclusion import Raised, SoftDeadline, StillRunning
from surehand.worker.handing_over import HandOver, Superseded

#: What an attempt can say of itself, the most careful first. Whoever may be running still keeps the lease, and who has
#: lost it writes nothing. An effect that nobody knows is not repeated unasked. What may still come right is tried
#: again, what an operator must see is not deleted, and a Cancel counts only where nothing else was said.
_WORDS: tuple[tuple[type[BaseException], ...], ...] = (
    (StillRunning,),
    (Superseded,),
    (Unknown, SoftDeadline),
    (HandOver,),
    (Retry,),
    (Defer,),
    (Reject, CursorUnreadable),
    (Cancel,),
    (Fate,),
)


def raised(error: BaseException) -> Raised:
    """Return what an attempt raised: of a group the member that decides, and the first accident beside it.

    A word decides over accidents, most of which are tasks that break as they are canceled. Where there is none, a lone
    member stands for its group, and several stay the group that they are.
    """
    if not isinstance(error, BaseExceptionGroup):
        return Raised(error)
    members = list(_members(error))
    words = [one for one in members if is_word(one)]
    if words:
        return Raised(min(words, key=_rank), beside=next((one for one in members if not is_word(one)), None))
    return Raised(members[0] if len(members) == 1 else error)


def is_word(error: BaseException) -> bool:
    """Tell whether an exception says what shall become of its attempt. Any other is an accident."""
    return _rank(error) < len(_WORDS)


def _members(error: BaseException) -> Iterator[BaseException]:
    """The exceptions of a group and of the groups in it, in order, however deep they nest."""
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(reversed(one.exceptions))
        else:
            yield one


def _rank(error: BaseException) -> int:
    return next((rank for rank, kinds in enumerate(_WORDS) if isinstance(error, kinds)), len(_WORDS))
