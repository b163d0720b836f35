"""Movements of stock: each is booked once, and those of one article in the order in which they were sent."""

from datetime import timedelta

from pydantic import BaseModel

from handlers.warehouse import Busy, warehouse
from surehand import Job, Retry, queue


class StockMoved(BaseModel):
    """*quantity* pieces came into the warehouse, or left it if the number is negative."""

    movement_id: str
    sku: str
    quantity: int


@queue("stock-moves", key="movement_id", group="sku", timeout=timedelta(seconds=30))
def move_stock(movement: StockMoved, job: Job) -> None:
    """Book one movement. A Retry keeps back the later movements of this article, and of no other."""
    try:
        warehouse().book(movement.movement_id, movement.sku, movement.quantity, idempotency_key=job.key("movement"))
    except Busy as error:
        raise Retry("provider.busy", after=error.retry_after) from error
