"""The watch stack, synthesised once; everything else is arithmetic on its template."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from aws_cdk import Stack

from handlers.service import SHOP
from surehand_cdk import ServiceConstruct, validate
from surehand_cdk.watch import Watch
from tests.infra.alarms.evaluator import Alarms
from tests.infra.alarms.watched_service import SERVICE, TRAFFIC
from tests.infra.synthesis import WITHOUT_CODE, Synthesis, new_app, synthesise


@pytest.fixture(scope="session")
def watch() -> Iterator[Synthesis]:
    """The core and the watch stack of a service with a busy, a quiet and a rare handler and a schedule."""
    app = new_app(**WITHOUT_CODE)
    core = ServiceConstruct(Stack(app, "core"), "Service", SERVICE, stage="dev", protect=False)
    Watch(Stack(app, "watch"), "Watch", core, profile="full", traffic=TRAFFIC)
    result = synthesise(app)
    yield result
    shutil.rmtree(result.directory)


@pytest.fixture(scope="session")
def alarms(watch: Synthesis) -> Alarms:
    """The synthesised alarms."""
    return Alarms.of(watch.templates["watch"])


def in_production(profile: str) -> Synthesis:
    """The example service in production, watched, and judged by every layer."""
    app = new_app(**WITHOUT_CODE)
    core = ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage="prod")
    Watch(Stack(app, "watch"), "Watch", core, profile=profile)
    validate(app)
    result = synthesise(app)
    shutil.rmtree(result.directory)
    return result


@pytest.fixture(scope="session")
def full() -> Synthesis:
    return in_production("full")


@pytest.fixture(scope="session")
def lean() -> Synthesis:
    return in_production("lean")
