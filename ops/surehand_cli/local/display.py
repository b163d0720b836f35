"""How a local run is shown: as a live table in a terminal, line by line elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from surehand_cli.local.progress import Track
from surehand_cli.local.report import Report


class Display(Protocol):
    """What the run tells while it goes on."""

    def step(self, text: str) -> AbstractContextManager[object]:
        """Show that something is going on until the block ends."""

    def following(self) -> AbstractContextManager[object]:
        """Make room for the messages, which are shown while the block lasts."""

    def tracks(self, tracks: Sequence[Track]) -> None:
        """Show where every message is."""


class Lines:
    """One line for each thing that happens, with the seconds since the beginning."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._told: Counter[int] = Counter()
        self._dead: set[int] = set()
        self._answered: set[int] = set()

    def step(self, text: str) -> AbstractContextManager[object]:
        """Print the step when it begins."""
        self._print(f"{text} …")
        return nullcontext()

    def following(self) -> AbstractContextManager[object]:
        """Nothing to prepare: lines stay."""
        return nullcontext()

    def tracks(self, tracks: Sequence[Track]) -> None:
        """Print what has not been printed yet: deliveries, but for those that only bring a dead letter nearer."""
        for track in tracks:
            if track.status is not None and id(track) not in self._answered:
                self._answered.add(id(track))
                self._print(f"{track.title}: HTTP {track.status}")
            for delivered in track.deliveries[self._told[id(track)] :]:
                if delivered.outcome != "fast_forwarded":
                    code = f" ({delivered.code})" if delivered.code else ""
                    self._print(f"{track.title}: {delivered.outcome}{code}")
            self._told[id(track)] = len(track.deliveries)
            if track.dead and id(track) not in self._dead:
                self._dead.add(id(track))
                self._print(f"{track.title}: in the dead-letter queue, after {len(track.deliveries)} receives")

    def _print(self, text: str) -> None:
        self._console.print(Text(f"{time.monotonic() - self._began:5.1f} s  {text}"), soft_wrap=True)


class LiveTable:
    """A table that follows the messages, with what is going on below it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None

    def step(self, text: str) -> AbstractContextManager[object]:
        """Spin while the block lasts."""
        return self._console.status(Text(f"{text} …"))

    def tracks(self, tracks: Sequence[Track]) -> None:
        """Draw the table anew."""
        if self._live is not None:
            self._live.update(Group(table(tracks, self._console.width), Spinner("dots", _waiting_for(tracks))))

    @contextmanager
    def following(self) -> Iterator[None]:
        """Draw the table at the bottom of the terminal, and wipe it in the end."""
        with Live(console=self._console, refresh_per_second=8, transient=True) as self._live:
            yield
        self._live = None


def table(tracks: Sequence[Track], width: int) -> RenderableType:
    """Return the table of the messages on their way. On a terminal narrower than 110 columns it names no handlers."""
    wide = width >= 110
    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    drawn.add_column("", width=1)
    drawn.add_column("message", no_wrap=True)
    if wide:
        drawn.add_column("handler", no_wrap=True)
    drawn.add_column("outcomes so far", overflow="fold")
    drawn.add_column("fate", no_wrap=True)
    for track in tracks:
        mark, style = _mark(track)
        fate = track.fate or ("" if track.sent else "not sent yet")
        handler = [Text(track.handler, "dim")] if wide else []
        way = Text(track.way, "dim" if track.fate else "")
        drawn.add_row(Text(mark, style), track.title, *handler, way, Text(fate, style))
    return drawn


def summary(done: Report) -> Text:
    """Return the report in a few lines of words."""
    counted = [
        ("succeeded", done.succeeded),
        ("already applied", done.already_applied),
        ("canceled", done.canceled),
        ("dead-lettered", done.dead_lettered),
        ("lost", done.lost),
    ]
    fates = ", ".join(f"{count} {word}" for word, count in counted if count or word == "lost")
    effects = f"{done.effects} effects, {done.duplicated_effects} of them duplicates, {done.out_of_order} out of order"
    text = Text(f"{done.sent} messages: {fates}. {done.retried} retries on the way.\n")
    if done.requests:
        statuses = ", ".join(f"{count} × {status}" for status, count in done.requests.items())
        text.append(f"{sum(done.requests.values())} webhook requests: {statuses}.\n")
    text.append(f"{effects}; {done.seconds} s in all.")
    if done.unexpected:
        text.append(f"\nNot as expected: {', '.join(done.unexpected)}.", "red")
    if done.effects != done.expected_effects:
        text.append(f"\n{done.expected_effects} effects were expected.", "red")
    return text


def _mark(track: Track) -> tuple[str, str]:
    if track.fate is None:
        return "·", ""
    return ("✓", "green") if track.met else ("✗", "red")


def _waiting_for(tracks: Sequence[Track]) -> Text:
    going = [track for track in tracks if track.fate is None]
    dying = [
        track for track in going if track.way.endswith(("rejected", "key_conflict")) or "fast_forwarded" in track.way
    ]
    if going and len(dying) == len(going):
        return Text("only SQS fills a dead-letter queue: given-up messages come back at once until it moves them")
    return Text(f"{len(going)} on their way" if going else "waiting for further messages")
