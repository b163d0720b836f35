"""A service whose declarations reach the edges: both kinds of queue, windows, long runs, a circle of senders."""

from datetime import timedelta

from pydantic import BaseModel

from surehand import Handler, Service, queue


class Payload(BaseModel):
    """What every handler here takes."""

    id: str
    shelf: str = ""


@queue("plain", key="id")
def plain(payload: Payload) -> None:
    """Everything by default."""


@queue(
    "gathering",
    key="id",
    batch_size=500,
    batch_window=timedelta(seconds=45),
    timeout=timedelta(minutes=15),
    max_concurrency=1_000,
    memory=10_240,
    retention=timedelta(days=13),
    max_attempts=20,
    sends_to=("ordered", plain),
)
def gathering(payload: Payload) -> None:
    """Large batches, the longest timeout, and messages to two others."""


@queue("ordered", key="id", group="shelf", timeout=timedelta(seconds=1), max_attempts=9, sends_to=("gathering",))
def ordered(payload: Payload) -> None:
    """A FIFO queue that sends back to one of its senders."""


@queue(
    "name-of-forty-characters-the-longest-one",
    key="id",
    retention=timedelta(seconds=3_600),
    give_up_after=timedelta(minutes=5),
)
def longest_name(payload: Payload) -> None:
    """The longest name and a short memory."""


@queue("echo", key="id", sends_to=("echo",))
def echo(payload: Payload) -> None:
    """Sends to itself."""


HANDLERS: tuple[Handler[Payload], ...] = (plain, gathering, ordered, longest_name, echo)
#: What our own rules warn about at these edges, without refusing it: late dead letters and short memories.
WARNINGS = {"D12", "Q06", "Q18"}
WIDE = Service("wide", HANDLERS)
