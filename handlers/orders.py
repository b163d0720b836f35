"""Orders of the shop: each is charged once."""

from datetime import timedelta

from pydantic import BaseModel, PositiveInt

from handlers.payments import Busy, Declined, payments
from surehand import Cancel, Job, Retry, queue


class OrderPlaced(BaseModel):
    """One order, as the shop publishes it. *amount* is in cents, *card* the token that the shop's checkout got."""

    order_id: str
    amount: PositiveInt
    card: str


@queue("orders", key="order_id", timeout=timedelta(seconds=30), max_attempts=3)
def charge_order(order: OrderPlaced, job: Job) -> str:
    """Charge one order and return the charge's number, which the ledger keeps."""
    try:
        return payments().charge(order.order_id, order.amount, card=order.card, idempotency_key=job.key("charge"))
    except Declined as error:
        raise Cancel("data.card_declined") from error  # a business no: final, nobody is paged
    except Busy as error:
        raise Retry("provider.busy", after=error.retry_after) from error
