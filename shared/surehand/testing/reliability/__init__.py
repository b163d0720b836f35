"""The reliability suite for users' handlers: one line in a test file, one case per promise."""

from surehand.testing.reliability.suite import reliability_suite
from surehand.testing.reliability.trial import PromiseBroken

__all__ = ["PromiseBroken", "reliability_suite"]
