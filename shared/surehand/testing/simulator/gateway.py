"""The engine's `Queues` protocol over simulated queues."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta

from surehand.errors import ConfigurationError, Refused
from surehand.queues import Outgoing, Visibility
from surehand.testing.simulator.crossings import Crossings
from surehand.testing.simulator.message import Denied
from surehand.testing.simulator.queue import Queue


class _CallFailed(Exception):
    """SQS did not answer, or not in time."""


class SimulatedQueues:
    """What an invocation may do to queues, by handler name. Every call is a crossing: it may fail, or be the last."""

    def __init__(self, queues: Mapping[str, Queue], crossings: Crossings) -> None:
        self._queues = queues
        self._crossings = crossings

    def set_visibility(self, handler: str, changes: Sequence[Visibility]) -> Sequence[Refused]:
        """As `Queues.set_visibility`: whole seconds upwards; returns what was refused and never raises for it."""
        try:
            with self._crossings.cross("queue.visibility", handler, error=_CallFailed):
                return self._change(self._of(handler), changes)
        except _CallFailed:
            return [Refused(index, "RequestTimeout") for index in range(len(changes))]

    @staticmethod
    def _change(queue: Queue, changes: Sequence[Visibility]) -> list[Refused]:
        refused = []
        for index, change in enumerate(changes):
            wait = timedelta(seconds=math.ceil(change.wait.total_seconds()))
            try:
                queue.change_visibility(change.receipt_handle, wait)
            except Denied as refusal:
                refused.append(Refused(index, refusal.code))
        return refused

    def delete(self, handler: str, receipt_handles: Sequence[str]) -> Sequence[Refused]:
        """As `Queues.delete`: returns what was refused and never raises for it."""
        try:
            with self._crossings.cross("queue.delete", handler, error=_CallFailed):
                return self._delete(self._of(handler), receipt_handles)
        except _CallFailed:
            return [Refused(index, "RequestTimeout") for index in range(len(receipt_handles))]

    @staticmethod
    def _delete(queue: Queue, receipt_handles: Sequence[str]) -> list[Refused]:
        refused = []
        for index, handle in enumerate(receipt_handles):
            try:
                queue.delete(handle)
            except Denied as refusal:
                refused.append(Refused(index, refusal.code))
        return refused

    def send(self, handler: str, messages: Sequence[Outgoing]) -> Sequence[Refused]:
        """As `Queues.send`: returns what SQS did not accept.

        Raises:
            ConfigurationError: There is no queue of that handler.
        """
        queue = self._of(handler)
        try:
            with self._crossings.cross("queue.send", handler, error=_CallFailed):
                return self._send(queue, messages)
        except _CallFailed:
            return [Refused(index, "RequestTimeout") for index in range(len(messages))]

    @staticmethod
    def _send(queue: Queue, messages: Sequence[Outgoing]) -> list[Refused]:
        refused = []
        for index, message in enumerate(messages):
            try:
                queue.send(
                    message.body,
                    attributes=message.attributes,
                    delay=message.delay or None,
                    group=message.group,
                    deduplication=message.deduplication,
                    trace=message.trace,
                )
            except Denied as refusal:
                refused.append(Refused(index, refusal.code))
        return refused

    def _of(self, handler: str) -> Queue:
        try:
            return self._queues[handler]
        except KeyError:
            raise ConfigurationError(f"There is no queue of a handler '{handler}' in this simulation.") from None
