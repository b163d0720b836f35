"""The provider that the shop's handlers meet in tests: the stub of the local run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from local.provider_stub import ProviderStub, provider_stub


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderStub]:
    """Play every service that the shop's handlers call."""
    with provider_stub() as running:
        monkeypatch.setenv("PAYMENTS_URL", running.url)
        monkeypatch.setenv("WAREHOUSE_URL", running.url)
        monkeypatch.setenv("ACCOUNTING_URL", running.url)
        monkeypatch.setenv("TICKETS_URL", running.url)
        yield running
