"""The export of invoices keeps every promise, with billing and the archive in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any
from unittest.mock import patch

import pytest

from handlers.archive import Page
from handlers.invoices import export_invoices
from surehand import Tick
from surehand.testing import reliability_suite

PAGES = 3


class Office:
    """Billing and the archive in one: three pages a day, and uploads by idempotency key."""

    def __init__(self) -> None:
        self.uploads: Counter[str] = Counter()

    def page(self, day: date, *, after: str | None) -> Page | None:
        number = int(after.rpartition("-")[2]) + 1 if after else 1
        last = f"inv-{day}-{number}"
        return Page([{"id": last}], last) if number <= PAGES else None

    def upload(self, day: date, page: Page, *, idempotency_key: str) -> None:
        self.uploads[idempotency_key] += 1


OFFICE = Office()


@pytest.fixture(autouse=True)
def office() -> Iterator[None]:
    with patch("handlers.invoices.billing", lambda: OFFICE), patch("handlers.invoices.archive", lambda: OFFICE):
        yield


def effects() -> Any:
    return OFFICE.uploads


test_exporting_invoices = reliability_suite(
    export_invoices, Tick(datetime(2026, 1, 1, tzinfo=UTC)), effects=effects, reset=OFFICE.uploads.clear
)
