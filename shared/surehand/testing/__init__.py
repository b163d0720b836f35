"""What tests of handlers use: in-memory stores, a simulated AWS, and the reliability suite. Not deployed."""

from surehand.testing.account import Account
from surehand.testing.clock import FakeClock
from surehand.testing.events import again, record
from surehand.testing.gate import Gate
from surehand.testing.jobs import job
from surehand.testing.memory import MemoryLedger
from surehand.testing.queues import RecordingQueues
from surehand.testing.reliability import PromiseBroken, reliability_suite
from surehand.testing.simulating import simulate
from surehand.testing.world import World, world

__all__ = [
    "Account",
    "FakeClock",
    "Gate",
    "MemoryLedger",
    "PromiseBroken",
    "RecordingQueues",
    "World",
    "again",
    "job",
    "record",
    "reliability_suite",
    "simulate",
    "world",
]
