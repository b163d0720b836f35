"""Fixtures of the contract suites."""

from __future__ import annotations

import pytest

from tests.contracts.stores import ministack, store


@pytest.fixture(scope="session")
def emulator():
    with ministack() as url:
        yield url


@pytest.fixture
def ledger(request: pytest.FixtureRequest):
    """The store that the test is parametrised with, empty."""
    name = request.param
    emulator = request.getfixturevalue("emulator") if name.startswith("ministack") else None
    with store(name, emulator) as made:
        yield made
