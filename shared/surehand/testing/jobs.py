"""A `Job` for plain tests of a handler's function: `charge_order.run(order, job(charge_order, order, attempt=2))`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from surehand.cursors import LocalCursors, write_value
from surehand.declare import Handler
from surehand.job import Job

P = TypeVar("P")


def job(
    handler: Handler[P],
    payload: P,
    *,
    attempt: int = 1,
    attributes: Mapping[str, str] | None = None,
    interrupted: bool = False,
    cursor: object = None,
) -> Job:
    """Return the Job of an attempt at *payload*, sent now, with the whole timeout left.

    `job.key(…)` is the key that the deployed handler would give. *attempt* counts from 1. *cursor* is what an earlier
    attempt has saved; what the handler saves, `job.cursor(…)` returns afterwards. No save leaves the handler.

    Raises:
        TypeError: *cursor* cannot be saved as one.
        ValueError: *attempt* is outside 1 to the handler's `max_attempts`.
        NoKey: The payload names no operation.
    """
    if not 1 <= attempt <= handler.options.max_attempts:
        raise ValueError(
            f"attempt={attempt}: handler '{handler.name}' has attempts 1 to {handler.options.max_attempts}."
        )
    return replace(
        handler.first_job(payload),
        attempt=attempt,
        last_attempt=attempt == handler.options.max_attempts,
        interrupted=interrupted,
        attributes=dict(attributes or {}),
        cursors=LocalCursors({} if cursor is None else {"": write_value(cursor)}),
    )
