"""What both sides' handlers do at the moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bench.sides.order import Order


class Busy(Exception):
    """The provider is busy: try again later."""


class Impossible(Exception):
    """This order can never succeed."""


class _Business:
    act: Callable[[Order], object] = staticmethod(lambda order: order.order_id)


BUSINESS = _Business()


@contextmanager
def doing(act: Callable[[Order], object]) -> Iterator[None]:
    """Let the handlers of both sides do this for the body; otherwise they return at once."""
    before, BUSINESS.act = BUSINESS.act, act
    try:
        yield
    finally:
        BUSINESS.act = before
