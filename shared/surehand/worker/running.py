"""Phase run, for a whole batch: in queue order, or several at once, and never beyond the deadline."""

from __future__ import annotations

import contextvars
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import timedelta

from surehand.worker.attempts import Attempts
from surehand.worker.plan import Step


def take_in_order(attempts: Attempts, steps: Sequence[Step], *, fifo: bool) -> None:
    """Run the steps one after the other. On FIFO a step whose group is held is left for later."""
    for step in steps:
        if fifo and attempts.lane_held(step):
            attempts.leave(step)
        else:
            attempts.take(step)


def take_in_parallel(attempts: Attempts, steps: Sequence[Step], *, fifo: bool, parallel: int, left: timedelta) -> None:
    """Run up to *parallel* lanes at once, in threads. A lane is a FIFO group, or a single step on a standard queue.

    Threads cannot be interrupted. When *left* has passed, and half of the reserve behind it in which coroutines that
    were canceled come to their end, whatever has not begun is put back, and a step that is still running keeps its
    lease (P9).
    """
    lanes = _lanes(steps) if fifo else [[step] for step in steps if not step.suspect]
    pool = ThreadPoolExecutor(parallel, thread_name_prefix="surehand")
    running: dict[Future[None], Sequence[Step]] = {}
    for lane in lanes:
        call = contextvars.copy_context().run
        running[pool.submit(call, lambda lane: take_in_order(attempts, lane, fifo=fifo), lane)] = lane
    done, late = wait(running, timeout=max(0.0, (left + attempts.grace).total_seconds()))
    unstarted = {future for future in late if future.cancel()}
    pool.shutdown(wait=False)
    for future in done - unstarted:
        future.result()
    for future in unstarted:
        _leave(attempts, running[future])
    stuck = late - unstarted
    for future in stuck:
        remaining = [step for step in running[future] if not attempts.ended(step)]
        for step in remaining[:1]:
            attempts.still_running(step)
        _leave(attempts, remaining[1:])  # nothing starts any more by now, in whatever thread
    suspects = [] if fifo else [step for step in steps if step.suspect]
    if stuck:
        _leave(attempts, suspects)
    else:
        take_in_order(attempts, suspects, fifo=False)


def _leave(attempts: Attempts, steps: Iterable[Step]) -> None:
    for step in steps:
        attempts.leave(step)


def _lanes(steps: Sequence[Step]) -> list[list[Step]]:
    """Put steps that share a group into one lane, in queue order. A step without a group is a lane of its own."""
    lanes: list[list[Step]] = []
    by_group: dict[str, list[Step]] = {}
    for step in steps:
        groups = {one.lane for one in step.all if one.lane is not None}
        touched: list[list[Step]] = []
        for group in groups:
            lane = by_group.get(group)
            if lane is not None and lane not in touched:
                touched.append(lane)
        lane = sorted([step, *(one for part in touched for one in part)], key=lambda one: one.index)
        lanes = [part for part in lanes if part not in touched] + [lane]
        for one in lane:
            by_group.update({message.lane: lane for message in one.all if message.lane is not None})
    return lanes
