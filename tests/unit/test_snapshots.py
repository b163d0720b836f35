"""After a restore from a SnapStart snapshot nothing is shared with the other copies: clients, numbers, owners."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from surehand import entrypoint, ingress, queue
from surehand.errors import ConfigurationError
from surehand.worker import Invocation

SOURCES = '[{"name":"stripe","secret":"shop/dev/webhooks/stripe","scheme":"stripe"}]'


class Hooks(ModuleType):
    """`snapshot_restore_py` as the managed runtimes have it, and what Lambda does with what is registered."""

    def __init__(self) -> None:
        super().__init__("snapshot_restore_py")
        self.registered: list[tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]] = []

    def register_after_restore(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        self.registered.append((func, args, kwargs))

    def restore(self) -> None:
        for func, args, kwargs in self.registered:
            func(*args, **kwargs)


@queue("parcels", key="id")
def parcels(parcel: dict[str, Any]) -> None:
    """Take a parcel."""


@pytest.fixture(autouse=True)
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The environment of a deployed function that begins with a snapshot."""
    for name, value in {
        "AWS_LAMBDA_FUNCTION_NAME": "shop-dev-parcels",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "SUREHAND_HANDLER": "parcels",
        "SUREHAND_TABLE": "shop-dev-ledger",
        "SUREHAND_QUEUE_PARCELS": "https://sqs.eu-west-1.amazonaws.com/123456789012/shop-dev-parcels",
        "SUREHAND_QUEUE_STRIPE": "https://sqs.eu-west-1.amazonaws.com/123456789012/shop-dev-stripe",
        "SUREHAND_WEBHOOK_SOURCES": SOURCES,
        "SUREHAND_WEBHOOK_BODIES": "bodies",
    }.items():
        monkeypatch.setenv(name, value)
    entrypoint.forget()
    ingress.forget()
    yield
    entrypoint.forget()
    ingress.forget()


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Hooks:
    made = Hooks()
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", made)
    return made


def copies(hooks: Hooks, look: Callable[[], Any]) -> list[Any]:
    """Restore two environments from the snapshot that is this process now, and look at each."""
    state = random.getstate()
    found = []
    for _ in range(2):
        random.setstate(state)
        hooks.restore()
        found.append(look())
    return found


def test_each_copy_has_clients_and_jitter_of_its_own(hooks: Hooks) -> None:
    entrypoint.declared(parcels)
    before = entrypoint.ports_of(parcels)
    one, other = copies(hooks, lambda: entrypoint.ports_of(parcels))

    for part in ("ledger", "cursors", "queues", "loop", "random"):
        assert len({id(getattr(ports, part)) for ports in (before, one, other)}) == 3
    assert len({id(ports.ledger._client) for ports in (before, one, other)}) == 3


def test_each_copy_draws_numbers_of_its_own_from_python_s_generator(hooks: Hooks) -> None:
    entrypoint.declared(parcels)

    assert len(set(copies(hooks, random.random))) == 2


def test_two_copies_of_one_invocation_own_their_claims_apart(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    owners: list[str] = []

    def work(*_: Any, invocation: Invocation, **__: Any) -> Any:
        owners.append(invocation.owner)
        return SimpleNamespace(stuck=False, response={})

    monkeypatch.setattr("surehand.worker.work", work)
    entrypoint.declared(parcels)
    copies(hooks, lambda: entrypoint.handle(parcels, {}, SimpleNamespace(aws_request_id="the same")))

    assert len(set(owners)) == 2


def test_the_copy_is_ready_before_its_first_invocation(hooks: Hooks) -> None:
    entrypoint.declared(parcels)
    hooks.restore()

    assert list(entrypoint._BUILT.values()) == [entrypoint.ports_of(parcels)]


def test_each_copy_of_the_ingress_has_clients_and_secrets_of_its_own(hooks: Hooks) -> None:
    ingress._initialise()
    before = ingress._ingress()
    one, other = copies(hooks, ingress._ingress)

    for part in ("secrets", "queue", "store"):
        assert len({id(getattr(made, part)) for made in (before, one, other)}) == 3


@pytest.mark.parametrize("initialise", [lambda: entrypoint.declared(parcels), ingress._initialise])
def test_a_run_time_without_hooks_is_refused_where_a_snapshot_is_taken(
    initialise: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", None)
    with pytest.raises(ConfigurationError, match="snapshot_restore_py is missing"):
        initialise()

    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
    initialise()
