"""Lambda SnapStart: every environment begins as a copy of one that was initialised when the version was published.

Connections in it may be dead, credentials stale, and pseudorandom generators give every copy the same numbers. So what
was built during init is built anew after each restore. Owners of claims, ids of messages and codes are made of the
operating system's randomness within an invocation, and need nothing.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/snapstart-uniqueness.html and
https://docs.aws.amazon.com/lambda/latest/dg/snapstart-runtime-hooks-python.html
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from importlib import import_module

from surehand.errors import ConfigurationError
from surehand.variables import INITIALIZATION, SNAPSHOT

#: Part of the managed runtimes from Python 3.12 on, and of nothing else.
_HOOKS = "snapshot_restore_py"


def after_restore(renew: Callable[[], object], *, environment: Mapping[str, str]) -> None:
    """Call *renew* whenever this process, which has these environment variables, is restored from a snapshot.

    Raises:
        ConfigurationError: The run time has no such hooks, and this environment is initialised for a snapshot.
    """
    try:
        hooks = import_module(_HOOKS)
    except ModuleNotFoundError:
        if environment.get(INITIALIZATION) == SNAPSHOT:
            raise ConfigurationError(
                f"SnapStart is on and {_HOOKS} is missing: clients and random numbers of the snapshot would be shared. "
                "Use a managed Python runtime of Lambda, from 3.12 on, or switch SnapStart off."
            ) from None
        return
    hooks.register_after_restore(_restored, renew)


def _restored(renew: Callable[[], object]) -> None:
    random.seed()  # botocore draws the waits between its retries from this one
    renew()
