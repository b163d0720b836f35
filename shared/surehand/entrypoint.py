"""The composition root: the only place that reads the environment and the real clock.

Importing it costs no AWS import; clients are built when a declaration is imported inside Lambda (during init), and
elsewhere with the first event.
"""

from __future__ import annotations

import gc
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from surehand import variables
from surehand.declare import derived
from surehand.delivery import records_of
from surehand.errors import ConfigurationError

if TYPE_CHECKING:
    from surehand.declare import Handler
    from surehand.queues import Queues
    from surehand.worker import Ports

#: What a test has put in the place of AWS (`surehand.testing.world`).
_BOUND: ContextVar[Ports | None] = ContextVar("surehand_ports", default=None)
#: What was built for this execution environment, by handler name and the variables it was built from.
_BUILT: dict[tuple[str, ...], Ports] = {}
#: The queues that `send` uses: a client and its connections are worth keeping.
_QUEUES: dict[tuple[str, ...], Queues] = {}


class SystemClock:
    """The real clock."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        return now()


def now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def inside_lambda() -> bool:
    """Tell whether this process is a Lambda execution environment."""
    return bool(os.environ.get("AWS_LAMBDA_FUNCTION_NAME"))


def declared(handler: Handler[Any]) -> None:
    """Take note of a declaration: inside Lambda, build the clients of this function's own handler during init."""
    if inside_lambda() and os.environ.get(derived.HANDLER) == handler.name:
        with _without_collections():
            ports_of(handler)
            listen_to_the_user()
        _renew_after_restore(handler)


def _renew_after_restore(handler: Handler[Any]) -> None:
    from surehand.aws.snapshots import after_restore

    def renew() -> None:
        forget()
        ports_of(handler)  # here rather than in the first invocation, whose timeout is for the handler

    after_restore(renew, environment=os.environ)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep the garbage collector away while clients are built: a third of that time is its looking at what stays.

    What stays is then taken out of every later collection too.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if enabled:
            gc.enable()


def handle(handler: Handler[Any], event: Any, context: Any) -> dict[str, Any]:
    """Process one SQS event: what `Handler.__call__` does."""
    from surehand.worker import Invocation, work

    try:
        ports = ports_of(handler)
    except ConfigurationError:
        records_of(event)  # whoever calls a handler as a function is told that, and not which variable is missing
        raise
    request = str(getattr(context, "aws_request_id", None) or uuid.uuid4())
    invocation = Invocation(
        owner=f"{request}/{uuid.uuid4().hex[:8]}",
        deadline=ports.clock.now() + _left(context, handler.options.timeout),
    )
    answered = work(handler, event, invocation=invocation, ports=ports)
    if answered.stuck and inside_lambda():
        os._exit(1)  # P9: a handler that would not stop must not go on in the next invocation, beside its successor
    return answered.response


def send(handler: Handler[Any], payloads: tuple[Any, ...], delay: timedelta) -> None:
    """Send payloads to a handler's queue: what `Handler.send` does."""
    from surehand.sending import send as send_payloads

    bound = _BOUND.get()
    send_payloads(handler, payloads, delay=delay, queues=bound.queues if bound else _queues())


def sweep(event: Any, context: Any = None) -> dict[str, Any]:
    """Look for operations that are stuck: Lambda's entry of the deployed sweep, `surehand.entrypoint.sweep`.

    Raises:
        ConfigurationError: A variable is missing, or the event is not what the sweep's schedule sends.
        LedgerUnavailable: The ledger could not be read. The next run goes on at the same place.
    """
    import sys
    import time

    from surehand.aws import clients
    from surehand.aws.sweep import PATIENT, Sweep
    from surehand.aws.sweep_telling import lines, summary
    from surehand.declare.sweeping import SPARE, TIMEOUT, Task

    task, until = Task.read(event), now() + _left(context, TIMEOUT) - SPARE
    dynamodb, table = clients.client("dynamodb", PATIENT), _required(derived.TABLE)
    sweeping = Sweep(dynamodb, table, clock=SystemClock(), wait=lambda length: time.sleep(length.total_seconds()))
    report = sweeping.run(task, until=until)
    for line in lines(report, task, service=_service(), stage=_stage(), version=_version(), now=now()):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    return summary(report, now=now())


@contextmanager
def bound(ports: Ports) -> Iterator[None]:
    """Put *ports* in the place of AWS while the body runs, for this thread or task. For tests."""
    token = _BOUND.set(ports)
    try:
        yield
    finally:
        _BOUND.reset(token)


def ports_of(handler: Handler[Any]) -> Ports:
    """Return what a handler's invocations work with, built once per execution environment.

    Raises:
        ConfigurationError: A variable is missing or cannot be read.
    """
    ports = _BOUND.get()
    if ports is not None:
        return ports
    key = (handler.name, *(os.environ.get(name, "") for name in _READ))
    if key not in _BUILT:
        _queue_url(handler.name)  # wanted when the first message stays: too late, with a whole batch's effects done
        _BUILT[key] = _build()
    return _BUILT[key]


def forget() -> None:
    """Forget the clients that were built, so that the next event builds new ones. For tests and after a restore."""
    _BUILT.clear()
    _QUEUES.clear()


def listen_to_the_user() -> None:
    """Make the user's stdlib log records JSON lines that carry the operation in whose attempt they are written."""
    import logging

    from surehand.aws.logs import OperationFormatter

    for target in logging.getLogger().handlers:
        target.setFormatter(OperationFormatter())


def _build() -> Ports:
    from random import Random

    from surehand.aws import clients
    from surehand.aws.cursors import DynamoDBCursors
    from surehand.aws.dynamodb import DynamoDBLedger
    from surehand.aws.telling import CloudWatchTeller
    from surehand.worker import Ports
    from surehand.worker.loop import EventLoop

    writes = os.environ.get(derived.WRITES) or ("batch" if inside_lambda() else "single")
    if writes not in ("batch", "single"):
        raise ConfigurationError(f"{derived.WRITES}={writes!r}: use 'batch' or 'single'.")
    version = _version()
    dynamodb, table = clients.client("dynamodb", clients.LEDGER), _required(derived.TABLE)
    return Ports(
        ledger=DynamoDBLedger(dynamodb, table, batched=writes == "batch"),
        cursors=DynamoDBCursors(dynamodb, table),
        queues=_queues(),
        clock=SystemClock(),
        random=Random(),
        teller=CloudWatchTeller(service=_service(), stage=_stage(), version=version),
        loop=EventLoop(),
        retention=_retention(),
        version=version,
        group_commit=writes == "batch",
        fetch=_fetch(),
    )


def _version() -> str:
    return os.environ.get(derived.VERSION) or os.environ.get("AWS_LAMBDA_FUNCTION_VERSION") or "local"


def _service() -> str:
    return os.environ.get(derived.SERVICE, variables.UNNAMED_SERVICE)


def _stage() -> str:
    return os.environ.get(derived.STAGE, variables.UNNAMED_STAGE)


def _fetch() -> Any:
    """Return what fetches the large bodies of webhooks; None on a function that receives none."""
    bucket = os.environ.get(derived.BODIES)
    if not bucket:
        return None
    from surehand.aws import clients
    from surehand.aws.claims import S3Bodies

    return S3Bodies(clients.Later(lambda: clients.client("s3", clients.QUEUES)), bucket).fetch


def _queues() -> Queues:
    key = tuple(os.environ.get(name, "") for name in _WHERE)
    if key not in _QUEUES:
        from surehand.aws import clients
        from surehand.aws.queues import SQSQueues

        _QUEUES[key] = SQSQueues(clients.Later(lambda: clients.client("sqs", clients.QUEUES)), _queue_url)
    return _QUEUES[key]


def _queue_url(handler: str) -> str:
    variable = derived.queue_variable(handler)
    url = os.environ.get(variable)
    if not url:
        raise ConfigurationError(
            f"{variable} is not set, so the queue of '{handler}' is unknown. Declare sends_to=['{handler}'] on the "
            "handler that sends to it and deploy, or set the variable to the queue's URL."
        )
    return url


def _retention() -> timedelta:
    text = os.environ.get(derived.LEDGER_RETENTION)
    if text is None:
        return derived.ledger_retention(())
    if not text.isdecimal() or int(text) < 1:
        raise ConfigurationError(f"{derived.LEDGER_RETENTION}={text!r}: give whole seconds, at least 1.")
    return timedelta(seconds=int(text))


def _required(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise ConfigurationError(
            f"{variable} is not set. The construct sets it on deployed functions; in a test use "
            "surehand.testing.world(service), which sets everything."
        )
    return value


def _left(context: Any, timeout: timedelta) -> timedelta:
    """Return the time left by Lambda's own account; a context that has none (a test) means the whole timeout.

    0 is not "none": an invocation without time left starts nothing.
    """
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    if remaining is None:
        return timeout
    return timedelta(milliseconds=max(0, remaining()))


_WHERE = ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION")
_READ = (
    derived.SERVICE,
    derived.STAGE,
    derived.TABLE,
    derived.WRITES,
    derived.VERSION,
    derived.LEDGER_RETENTION,
    derived.BODIES,
    *_WHERE,
)
