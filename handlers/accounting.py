"""The accounting's interface, as far as the shop needs it."""

import os

from handlers.provider import Busy, Provider, Unavailable

__all__ = ["Accounting", "Busy", "Unavailable", "accounting"]


class Accounting:
    """Books payments. Every method may raise what `Provider.post` raises."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def book(self, invoice_id: str, amount: int, currency: str, *, idempotency_key: str) -> None:
        """Book a payment of *amount* cents; the same key books it once."""
        booking = {"reference": invoice_id, "amount": amount, "currency": currency}
        self._provider.post("/bookings", booking, idempotency_key=idempotency_key)


def accounting() -> Accounting:
    """Return a client of the accounting at `ACCOUNTING_URL`."""
    return Accounting(Provider(os.environ["ACCOUNTING_URL"]))
