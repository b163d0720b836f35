"""What a declaration says, checked as a whole: impossible combinations fail at import."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from surehand.backoff import Backoff
from surehand.declare import limits
from surehand.declare.identity import Fields
from surehand.declare.timing import Timing
from surehand.errors import DeclarationError

if TYPE_CHECKING:
    from surehand.declare.receiving import Receiving  # only webhook handlers pay for importing it

Envelope = Literal["none", "sns", "eventbridge"]
#: What to do with an operation whose effect is unknown; a callable asks the provider: True applied, False not
#: applied, None nobody knows (held).
OnUnknown = Literal["retry", "hold"] | Callable[..., bool | None]

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything that one declaration says beyond its function. Defaults are those of `queue`."""

    key: Fields | Callable[[Any], object] | None = None
    tenant: Fields | None = None
    group: Fields | None = None
    envelope: Envelope = "none"
    timeout: timedelta = timedelta(seconds=30)
    max_attempts: int = 5
    backoff: Backoff = Backoff()
    give_up_after: timedelta = timedelta(days=3)
    on_unknown: OnUnknown = "retry"
    sends_to: Sequence[Any] = ()
    batch_size: int = 10
    batch_window: timedelta = timedelta(0)
    parallel: int = 1
    max_concurrency: int = 10
    retention: timedelta = timedelta(days=4)
    memory: int = 512
    timing: Timing | None = None
    webhook: Receiving | None = None

    @property
    def fifo(self) -> bool:
        """Whether the queue is FIFO, which is what a group makes it."""
        return self.group is not None


def check(name: str, options: Options) -> None:
    """Refuse what cannot work.

    Raises:
        DeclarationError: Names the handler, the option, its limit and what was given.
    """
    check_name(name, "Handler")
    _whole_seconds(name, options)
    _ranges(name, options)
    _batches(name, options)
    if options.give_up_after >= options.retention:
        _refuse(
            name,
            "give_up_after",
            options.give_up_after,
            f"less than retention ({options.retention}), beyond which SQS deletes a message in silence",
        )
    for target in options.sends_to:
        if not isinstance(target, str) and not hasattr(target, "trigger"):
            _refuse(name, "sends_to", target, "declared handlers or their names")
    if options.envelope not in ("none", "sns", "eventbridge"):
        _refuse(name, "envelope", options.envelope, "'none', 'sns' or 'eventbridge'")
    if not callable(options.on_unknown) and options.on_unknown not in ("retry", "hold"):
        _refuse(name, "on_unknown", options.on_unknown, "'retry', 'hold' or a callable (payload, job) -> bool | None")
    if inspect.iscoroutinefunction(options.on_unknown):
        _refuse(name, "on_unknown", options.on_unknown, "a plain function, since nothing awaits its answer")


def check_name(name: object, what: str) -> None:
    """Refuse a name that cannot be part of every AWS name derived from it."""
    if not isinstance(name, str) or not NAME.fullmatch(name) or len(name) > 40:
        raise DeclarationError(
            f"{what} name {name!r}: use lower-case letters, digits and single hyphens, starting with a letter, at most "
            "40 characters. It becomes part of queue, function and alarm names and is the identity for ever."
        )


def refuse_unknown(name: str, given: Mapping[str, object], known: Sequence[str], *, what: str) -> None:
    """Refuse options that do not exist, with the nearest ones that do."""
    for option in given:
        near = difflib.get_close_matches(option, known, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else f" Known options: {', '.join(known)}."
        raise DeclarationError(f"Handler '{name}': {what} has no option '{option}'.{hint}")


def _refuse(name: str, option: str, given: object, wanted: str) -> None:
    raise DeclarationError(f"Handler '{name}': {option}={given!r}, but it must be {wanted}.")


def _whole_seconds(name: str, options: Options) -> None:
    for option in ("timeout", "give_up_after", "batch_window", "retention"):
        length = getattr(options, option)
        if not isinstance(length, timedelta):
            _refuse(name, option, length, "a timedelta")
        if length % timedelta(seconds=1):
            _refuse(name, option, length, "a whole number of seconds, which is all that AWS takes")


def _ranges(name: str, options: Options) -> None:
    second = timedelta(seconds=1)
    spans: list[tuple[str, Any, Any]] = [
        ("timeout", second, limits.LONGEST_TIMEOUT),
        ("retention", limits.SHORTEST_RETENTION, limits.LONGEST_RETENTION - timedelta(days=1)),
        ("give_up_after", second, limits.LONGEST_RETENTION),
        ("batch_window", timedelta(0), limits.LONGEST_WINDOW),
        ("max_attempts", 1, 100),
        ("max_concurrency", limits.LEAST_CONCURRENCY, limits.MOST_CONCURRENCY),
        ("memory", limits.LEAST_MEMORY, limits.MOST_MEMORY),
        ("parallel", 1, 1_000),
    ]
    for option, least, most in spans:
        value = getattr(options, option)
        if isinstance(value, bool) or not isinstance(value, type(least)) or not least <= value <= most:
            _refuse(name, option, value, f"from {least} to {most}")


def _batches(name: str, options: Options) -> None:
    most = limits.LARGEST_FIFO_BATCH if options.fifo else limits.LARGEST_BATCH
    size = options.batch_size
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= most:
        _refuse(name, "batch_size", size, f"from 1 to {most} on a {'FIFO' if options.fifo else 'standard'} queue")
    if options.fifo and options.batch_window:
        _refuse(name, "batch_window", options.batch_window, "0 on a FIFO queue (group= makes it one)")
    if size > limits.BATCH_WITHOUT_WINDOW and options.batch_window < timedelta(seconds=1):
        _refuse(name, "batch_window", options.batch_window, f"at least 1 s for a batch_size of {size}")
    if options.parallel > size:
        _refuse(name, "parallel", options.parallel, f"at most batch_size ({size})")
    visibility = limits.VISIBILITY_FACTOR * options.timeout + options.batch_window
    if visibility > limits.LONGEST_VISIBILITY:
        _refuse(name, "timeout", options.timeout, "short enough for a visibility of 6 × timeout + window within 12 h")
