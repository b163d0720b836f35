"""Handlers that charge a card: one as it should be, and three that are broken in ways that look harmless."""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import timedelta

from pydantic import BaseModel

from surehand import Job, queue


class Payment(BaseModel):
    """One payment. *amount* is in cents."""

    number: str
    amount: int
    tenant: str = "shop"
    lane: str = "a"


class Bank:
    """A provider's fake: counts charges by idempotency key, and keeps marks that outlive a process."""

    def __init__(self) -> None:
        self.charges: Counter[str] = Counter()
        self.marks: set[str] = set()

    def charge(self, key: str) -> None:
        """Charge once more under this key."""
        self.charges[key] += 1

    def clear(self) -> None:
        """Forget everything."""
        self.charges.clear()
        self.marks.clear()


BANK = Bank()


@queue("sound", key="number", tenant="tenant")
def sound(payment: Payment, job: Job) -> None:
    """Charges under the job's key."""
    BANK.charge(job.key("charge"))


@queue("sound-lanes", key="number", group="lane")
def sound_in_lanes(payment: Payment, job: Job) -> None:
    """The same on a FIFO queue."""
    BANK.charge(job.key("charge"))


@queue("sound-careful", key="number", on_unknown="hold")
def sound_and_careful(payment: Payment, job: Job) -> None:
    """The same, and unknown effects wait for an operator."""
    BANK.charge(job.key("charge"))


@queue("sound-awaited", key="number")
async def sound_and_awaited(payment: Payment, job: Job) -> None:
    """The same as a coroutine."""
    BANK.charge(job.key("charge"))


@queue("sound-asking", key="number", on_unknown=lambda payment, job: BANK.charges[job.key("charge")] > 0)
def sound_and_asking(payment: Payment, job: Job) -> None:
    """The same, and the bank is asked what became of an unknown charge."""
    BANK.charge(job.key("charge"))


@queue("sound-once", key="number", max_attempts=1, timeout=timedelta(seconds=5))
def sound_without_retries(payment: Payment, job: Job) -> None:
    """The same with a single attempt."""
    BANK.charge(job.key("charge"))


@queue("fresh-key", key="number")
def fresh_key_each_time(payment: Payment) -> None:
    """Broken: a retry charges under another key, so the bank charges twice."""
    BANK.charge(str(uuid.uuid4()))


@queue("mark-first", key="number")
def mark_before_the_effect(payment: Payment, job: Job) -> None:
    """Broken: a crash between mark and charge loses the charge."""
    key = job.key("charge")
    if key in BANK.marks:
        return
    BANK.marks.add(key)
    BANK.charge(key)


@queue("swallows", key="number")
def swallows_the_deadline(payment: Payment, job: Job) -> None:
    """Broken: an interruption before the charge counts as success."""
    try:
        BANK.charge(job.key("charge"))
    except BaseException:  # noqa: BLE001 - the fault that is to be found
        return


@queue("shared-key", key="number", tenant="tenant")
def key_without_the_tenant(payment: Payment) -> None:
    """Broken: two tenants' payments of one number are one charge to the bank."""
    BANK.charge(f"charge-{payment.number}")
