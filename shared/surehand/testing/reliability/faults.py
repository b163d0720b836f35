"""Failures put around the user's handler, in the place of those that its provider would cause."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from surehand.declare import Handler
from surehand.worker.context import current

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def first_runs(
    handler: Handler[Any],
    count: int,
    *,
    before: BaseException | None = None,
    after: BaseException | None = None,
    only: str | None = None,
) -> Wrap:
    """Return a wrapper that fails the first *count* runs of each operation (or of *only* that one).

    *before*: instead of the handler's code, nothing has happened. *after*: when it has returned, everything has.
    """
    runs: dict[str, int] = {}

    def failing() -> bool:
        operation = str(current()["operation"])
        if only is not None and operation != only:
            return False
        runs[operation] = runs.get(operation, 0) + 1
        return runs[operation] <= count

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        async def awaited(*arguments: Any) -> Any:
            fails = failing()
            if fails and before is not None:
                raise before
            value = await function(*arguments)
            if fails and after is not None:
                raise after
            return value

        @wraps(function)
        def plain(*arguments: Any) -> Any:
            fails = failing()
            if fails and before is not None:
                raise before
            value = function(*arguments)
            if fails and after is not None:
                raise after
            return value

        return awaited if handler.is_async else plain

    return wrap
