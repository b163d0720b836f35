"""A simulated AWS: SQS, event source mappings, Lambda and EventBridge Scheduler, on a fake clock.

No emulator gets these right (message ids on a redrive, receive counts, bad responses, kills), so this one says at each
rule where it comes from. Pure Python, seeded, no sleeping; not deployed.
"""

from surehand.testing.simulator.crossings import Crossing, Crossings, Fault, Plan
from surehand.testing.simulator.faults import Chance, Faults
from surehand.testing.simulator.fifo import FifoQueue
from surehand.testing.simulator.function import Context, End, Function, Invocation, Result
from surehand.testing.simulator.gateway import SimulatedQueues
from surehand.testing.simulator.mapping import EventSourceMapping
from surehand.testing.simulator.message import Denied, Message, Received
from surehand.testing.simulator.moves import MoveStatus, MoveTask
from surehand.testing.simulator.queue import Queue
from surehand.testing.simulator.record import sqs_event
from surehand.testing.simulator.response import kept
from surehand.testing.simulator.schedules import Schedule
from surehand.testing.simulator.simulation import Simulation
from surehand.testing.simulator.standard import StandardQueue
from surehand.testing.simulator.tasks import Killed
from surehand.testing.simulator.timeline import NotQuiet, Timeline
from surehand.testing.simulator.trail import Happening, Trail

__all__ = [
    "Chance",
    "Context",
    "Crossing",
    "Crossings",
    "Denied",
    "End",
    "EventSourceMapping",
    "Fault",
    "Faults",
    "FifoQueue",
    "Function",
    "Happening",
    "Invocation",
    "Killed",
    "Message",
    "MoveStatus",
    "MoveTask",
    "NotQuiet",
    "Plan",
    "Queue",
    "Received",
    "Result",
    "Schedule",
    "SimulatedQueues",
    "Simulation",
    "StandardQueue",
    "Timeline",
    "Trail",
    "kept",
    "sqs_event",
]
