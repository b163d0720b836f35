"""The life of a delivery: parse, validate, identify, claim, run, settle, acknowledge, tell."""

from surehand.worker.ports import Invocation, Ports, Teller
from surehand.worker.sequence import Answered, work

__all__ = ["Answered", "Invocation", "Ports", "Teller", "work"]
