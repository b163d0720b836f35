"""What tests of handlers use: in-memory stores, a simulated AWS, and the reliability suite. Not deployed."""

from surehand.testing.clock import FakeClock
from surehand.testing.events import again, record
from surehand.testing.jobs import job
from surehand.testing.memory import MemoryLedger
from surehand.testing.queues import RecordingQueues
from surehand.testing.world import World, world

__all__ = ["FakeClock", "MemoryLedger", "RecordingQueues", "World", "again", "job", "record", "world"]
