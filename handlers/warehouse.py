"""The warehouse's interface, as far as the shop needs it."""

import os

from handlers.provider import Busy, Provider, Unavailable

__all__ = ["Busy", "Unavailable", "Warehouse", "warehouse"]


class Warehouse:
    """Books movements of stock. Every method may raise what `Provider.post` raises."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def book(self, movement_id: str, sku: str, quantity: int, *, idempotency_key: str) -> None:
        """Book one movement; the same key books it once."""
        self._provider.post(
            "/movements",
            {"reference": movement_id, "sku": sku, "quantity": quantity},
            idempotency_key=idempotency_key,
        )


def warehouse() -> Warehouse:
    """Return a client of the warehouse at `WAREHOUSE_URL`."""
    return Warehouse(Provider(os.environ["WAREHOUSE_URL"]))
