"""The interfaces of billing and of the archive, as far as the shop needs them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from handlers.provider import Busy, Provider, Unavailable

__all__ = ["Archive", "Billing", "Busy", "Page", "Unavailable", "archive", "billing"]


@dataclass(frozen=True, slots=True)
class Page:
    """Some invoices of one day, in the order of their ids. *last* is the id of the last one."""

    invoices: Sequence[dict[str, Any]]
    last: str


class Billing:
    """Lists invoices. Every method may raise what `Provider.get` raises."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def page(self, day: date, *, after: str | None) -> Page | None:
        """Return the invoices of a day that come behind the id *after*, or the first ones; None if there are none."""
        found = self._provider.get("/invoices", {"day": day.isoformat(), "after": after or ""})["invoices"]
        return Page(found, str(found[-1]["id"])) if found else None


class Archive:
    """Keeps what is uploaded. Every method may raise what `Provider.post` raises."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def upload(self, day: date, page: Page, *, idempotency_key: str) -> None:
        """Upload a page under its day and its last id; the same key uploads it once."""
        body = {"reference": f"{day.isoformat()}/{page.last}", "day": day.isoformat(), "invoices": page.invoices}
        self._provider.post("/uploads", body, idempotency_key=idempotency_key)


def billing() -> Billing:
    """Return a client of billing at `BILLING_URL`."""
    return Billing(Provider(os.environ["BILLING_URL"]))


def archive() -> Archive:
    """Return a client of the archive at `ARCHIVE_URL`."""
    return Archive(Provider(os.environ["ARCHIVE_URL"]))
