"""Handlers whose names are different and lead to one name."""

from __future__ import annotations

from datetime import timedelta

from surehand import Tick, queue, schedule, webhook


@queue("d", key="id")
def d(payload: dict) -> None:
    """Has the dead-letter queue `d-dlq`."""


@queue("d-dlq", key="id")
def d_dlq(payload: dict) -> None:
    """Has the queue `d-dlq`."""


@queue("d-dlq-parked", key="id")
def d_dlq_parked(payload: dict) -> None:
    """Has the queue into which `d` parks."""


@queue("d-dlq", key="id", group="id")
def d_dlq_fifo(payload: dict) -> None:
    """Has the queue `d-dlq.fifo`."""


@queue("ticks", key="id")
def ticks(payload: dict) -> None:
    """Has the dead-letter queue `ticks-dlq`."""


@schedule("hourly", timedelta(hours=1))
def hourly(tick: Tick) -> None:
    """Needs a queue for undelivered ticks."""


@queue("webhooks", key="id")
def webhooks(payload: dict) -> None:
    """Has the function of the ingress."""


@webhook("webhook", scheme="github")
def webhook_alone(payload: dict) -> None:
    """Has the alarms of the ingress."""


@webhook("hooks", scheme="github")
def hooks(payload: dict) -> None:
    """Needs an ingress."""
