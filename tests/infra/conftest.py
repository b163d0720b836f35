"""One synthesis of each service for all tests, since starting the jsii kernel takes longer than all of them."""

from __future__ import annotations

import pytest
from aws_cdk import Stack

from handlers.service import SHOP
from surehand import Service
from surehand_cdk import ServiceConstruct
from tests.infra.deployed import Deployed, Parts
from tests.infra.synthesis import WITHOUT_CODE, new_app, validated
from tests.infra.wide_service import WIDE

SERVICES = {service.name: service for service in (SHOP, WIDE)}


def deployed(service: Service, *, protect: bool) -> Deployed:
    """Return one service as it would be deployed, validated by every layer."""
    app = new_app(**WITHOUT_CODE)
    construct = ServiceConstruct(Stack(app, "core"), "Service", service, stage="dev", protect=protect)
    return Deployed(
        service=service, stage="dev", protect=protect, construct=construct, synthesis=validated(app, construct)
    )


@pytest.fixture(scope="session")
def shop() -> Deployed:
    return deployed(SHOP, protect=True)


@pytest.fixture(scope="session")
def wide() -> Deployed:
    return deployed(WIDE, protect=False)


@pytest.fixture(
    params=[(service.name, handler.name) for service in SERVICES.values() for handler in service.handlers],
    ids="/".join,
)
def parts(request: pytest.FixtureRequest) -> Parts:
    """Every handler of every service in turn."""
    service, handler = request.param
    found: Deployed = request.getfixturevalue(service)
    return found[found.service[handler]]


@pytest.fixture
def of_service(request: pytest.FixtureRequest, parts: Parts) -> Deployed:
    """The service that the handler belongs to."""
    name = next(service.name for service in SERVICES.values() if parts.handler in service.handlers)
    found: Deployed = request.getfixturevalue(name)
    return found
