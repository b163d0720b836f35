"""A Lambda function: environments cold and warm, a deadline, and a death that nothing survives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from surehand.testing.simulator.crossings import Crossings
from surehand.testing.simulator.holding import Scene
from surehand.testing.simulator.limits import IDLE_ENVIRONMENT, INVOCATION_PAYLOAD
from surehand.testing.simulator.record import ACCOUNT, REGION
from surehand.testing.simulator.tasks import Ended, Killed, Task


class End(StrEnum):
    """How an invocation ended."""

    RETURNED = "returned"
    RAISED = "raised"
    TIMED_OUT = "timed out"
    KILLED = "killed"
    THROTTLED = "throttled"


@dataclass(frozen=True, slots=True)
class Result:
    """What the caller of a function gets: how it *ended*, the *response* as JSON gives it back, or the *error*."""

    ended: End
    response: Any = None
    error: BaseException | None = None


class Context:
    """The context object of a Python function (Lambda developer guide, "Python context")."""

    def __init__(self, function: Function, invocation: Invocation) -> None:
        self._invocation = invocation
        self._now = function.scene.timeline.now
        self.aws_request_id = invocation.id
        self.function_name = function.name
        self.function_version = "$LATEST"
        self.invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function.name}"
        self.memory_limit_in_mb = str(function.memory)
        self.log_group_name = f"/aws/lambda/{function.name}"
        self.log_stream_name = f"{invocation.environment}"
        self.identity = None
        self.client_context = None

    def get_remaining_time_in_millis(self) -> int:
        """Return the simulated milliseconds until Lambda ends this invocation; 0 once it has."""
        return max(0, (self._invocation.deadline - self._now()) // timedelta(milliseconds=1))


@dataclass(slots=True, eq=False)
class Invocation:
    """One call of a function. *dead* from the moment it has ended; *faults* counts what befell its crossings."""

    id: str
    function: Function
    environment: str
    cold: bool
    deadline: datetime
    dead: bool = False
    timed_out: bool = False
    faults: int = 0
    task: Task | None = field(default=None, repr=False)

    def kill(self) -> None:
        """End the process now, as SIGKILL does: nothing it does from here on has any effect."""
        if not self.dead:
            self.dead = True
            if self.task is not None:
                self.function.scene.timeline.kill(self.task)


class Function:
    """One Lambda function around a *handler(event, context)*. Made by `Simulation.function`.

    *on_init* runs at each cold start, in place of the module's import: reset there what a new process would not have.
    *reserved* is the reserved concurrency; more invocations at once are throttled.
    """

    def __init__(
        self,
        name: str,
        handler: Callable[[Any, Any], Any],
        scene: Scene,
        crossings: Crossings,
        *,
        timeout: timedelta = timedelta(seconds=30),
        memory: int = 512,
        reserved: int | None = None,
        on_init: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.handler = handler
        self.scene = scene
        self.timeout = timeout
        self.memory = memory
        self.reserved = reserved
        self.on_init = on_init
        self.running: list[Invocation] = []
        self._crossings = crossings
        self._idle: list[tuple[datetime, str]] = []

    def invoke(self, event: Any, on_end: Callable[[Result], None]) -> None:
        """Start an invocation now; *on_end* gets its result, possibly before this returns."""
        chance = self.scene.chance
        if chance.of(chance.faults.throttle) or (self.reserved is not None and len(self.running) >= self.reserved):
            self.scene.trail.note("throttled", self.name)
            on_end(Result(End.THROTTLED))
            return
        environment, cold = self._environment()
        deadline = self.scene.timeline.now() + self.timeout
        invocation = Invocation(chance.identifier(), self, environment, cold, deadline)
        self.running.append(invocation)
        self.scene.trail.note("invoked cold" if cold else "invoked", self.name, invocation.id)
        clock = self.scene.timeline.at(deadline, lambda: self._time_out(invocation))

        def end(ended: Ended) -> None:
            clock.cancel()
            on_end(self._finish(invocation, ended))

        invocation.task = Task(lambda: self._run(invocation, event), invocation)
        self.scene.timeline.start(invocation.task, end)

    def _run(self, invocation: Invocation, event: Any) -> Any:
        if invocation.cold and self.on_init is not None:
            self.on_init()
        response = self.handler(event, Context(self, invocation))
        # The response is in Lambda's hands only after this; a process that dies before has not answered.
        with self._crossings.cross("acknowledge"):
            text = json.dumps(response)
        if len(text) > INVOCATION_PAYLOAD:
            raise ValueError("Function.ResponseSizeTooLarge")
        return json.loads(text)

    def _time_out(self, invocation: Invocation) -> None:
        invocation.timed_out = True
        invocation.kill()

    def _finish(self, invocation: Invocation, ended: Ended) -> Result:
        self.running.remove(invocation)
        if ended.error is not None and not isinstance(ended.error, Exception | Killed | SystemExit):
            raise ended.error  # the test's own: pytest.fail, Ctrl-C
        if invocation.dead or isinstance(ended.error, Killed | SystemExit):
            result = Result(End.TIMED_OUT if invocation.timed_out else End.KILLED)
        else:
            self._idle.append((self.scene.timeline.now(), invocation.environment))
            result = Result(End.RETURNED if ended.error is None else End.RAISED, ended.value, ended.error)
        invocation.dead = True
        self.scene.trail.note(str(result.ended), self.name, invocation.id)
        return result

    def _environment(self) -> tuple[str, bool]:
        """Reuse the environment that became idle last (warm), or make a new one (cold)."""
        oldest = self.scene.timeline.now() - IDLE_ENVIRONMENT
        self._idle = [(since, name) for since, name in self._idle if since >= oldest]
        if self._idle:
            return self._idle.pop()[1], False
        return self.scene.chance.identifier(), True
