"""Paid invoices, as Stripe tells them: each is booked once."""

from typing import Literal

from pydantic import BaseModel

from handlers.accounting import Busy, accounting
from surehand import Job, Retry, webhook


class Invoice(BaseModel):
    """What the shop reads of an invoice. *amount_paid* is in cents."""

    id: str
    amount_paid: int
    currency: str


class Subject(BaseModel):
    """What an event is about."""

    object: Invoice


class InvoicePaid(BaseModel):
    """One event. In Stripe's dashboard the endpoint is subscribed to this type alone; any other is a dead letter."""

    id: str
    type: Literal["invoice.paid"]
    data: Subject


@webhook("stripe", scheme="stripe")
def book_payment(event: InvoicePaid, job: Job) -> None:
    """Book what was paid. Stripe has had its 200 by then, so this may take its time and be tried again."""
    invoice = event.data.object
    try:
        accounting().book(invoice.id, invoice.amount_paid, invoice.currency, idempotency_key=job.key("booking"))
    except Busy as error:
        raise Retry("provider.busy", after=error.retry_after) from error
