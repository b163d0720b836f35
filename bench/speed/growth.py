"""Growth: what a message, a handler and a dead letter cost as there are more of them."""

from __future__ import annotations

import io
import itertools
import json
import sys
import tempfile
import time
import tracemalloc
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.figures import Figure, Target
from bench.sides.order import batch
from bench.sides.ours import LEDGER
from bench.speed.cold import ROOT
from bench.speed.engines import on_engine
from bench.speed.invoking import both, fresh
from bench.speed.node import use_locked_node
from bench.spread import alone
from surehand import Handler, Service, queue
from surehand.aws import clients
from surehand_cli.account.waiting import SystemWaiting
from surehand_cli.dlq.scan import Scan
from surehand_cli.dlq.snapshot import Writer
from surehand_cli.local.emulator import emulator

BATCHES = (1, 10, 100, 1_000, 10_000)
ITEMS = (1, 1_000, 10_000)
HANDLERS = (1, 10, 40)
LETTERS = (1_000, 10_000, 100_000)
#: CloudFormation: resources of one stack.
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
_RESOURCES = 500


def growth(*, runs: int) -> Iterator[Figure]:
    """Yield every figure of growth."""
    yield from by_batch(runs)
    yield from by_ledger(runs)
    yield from by_handlers()
    yield from by_letters()


def by_batch(runs: int) -> Iterator[Figure]:
    """CPU of one record in batches of 1 to 10,000."""
    with both() as (mine, _):
        for size in BATCHES:
            spread = alone(mine.cpu(fresh(size)), runs=runs if size <= 1_000 else min(3, runs))
            yield Figure(name="growth", under={"batch": size}, values={"us_per_record": round(spread.median, 1)})


def by_ledger(runs: int) -> Iterator[Figure]:
    """A batch of ten in a ledger of many items, in the emulator. On DynamoDB every access is by key.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.Partitions.html
    """
    with tempfile.TemporaryDirectory() as folder:
        executable = ROOT / ".emulator" / "bin" / "ministack"
        with emulator(executable, port=0, log=Path(folder) / "log") as url, on_engine(url) as (mine, _):
            client = clients.client("dynamodb", clients.QUEUES)
            there = 0
            for items in ITEMS:
                _fill(client, items - there)
                there = items
                spread = alone(mine.wall(fresh(10)), runs=runs)
                yield Figure(
                    name="growth", under={"ledger_items": items}, values={"ms_per_batch": round(spread.median, 2)}
                )


def by_handlers() -> Iterator[Figure]:
    """Synthesis of the core stack with many handlers, without bundling: seconds, and resources of the 500 allowed."""
    _synthesise(1)  # starts Node and loads the construct library, which takes the longest of all
    for count in HANDLERS:
        began = time.perf_counter()
        resources = _synthesise(count)
        yield Figure(
            name="growth",
            under={"handlers": count},
            values={"synth_s": round(time.perf_counter() - began, 2), "resources": resources},
            targets=(Target("resources", _RESOURCES),) if count == max(HANDLERS) else (),
        )


def by_letters() -> Iterator[Figure]:
    """Taking a snapshot of many dead letters from a queue that answers at once: time for each, and memory at most."""
    for count in LETTERS:
        took = _snapshot(count)
        tracemalloc.start()
        _snapshot(count)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        yield Figure(
            name="growth",
            under={"dead_letters": count},
            values={"us_per_letter": round(took / count * 1e6, 1), "peak_mb": round(peak / 2**20, 1)},
        )


def _snapshot(count: int) -> float:
    """Take one, and return the seconds that it took."""
    scan = Scan(_Letters(count), "https://queue", depth=count, waiting=SystemWaiting())
    writer = Writer(_Nowhere(), bodies=True)
    began = time.perf_counter()
    for _, new in scan.batches():
        for one in new:
            writer.letter(one.letter, None)
    return time.perf_counter() - began


def _fill(client: Any, count: int) -> None:
    """Put items into the ledger that nobody will ask for."""
    numbers = iter(range(count))
    while chunk := list(itertools.islice(numbers, 25)):
        items = [
            {"id": {"S": f"filler-{uuid.uuid4()}"}, "part": {"S": "operation"}, "pad": {"S": "x" * 400}} for _ in chunk
        ]
        client.batch_write_item(RequestItems={LEDGER: [{"PutRequest": {"Item": item}} for item in items]})


def _synthesise(count: int) -> int:
    use_locked_node()
    from aws_cdk import App, Stack

    from surehand_cdk import ServiceConstruct

    flags = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    with tempfile.TemporaryDirectory() as folder:
        app = App(outdir=folder, context={**flags, "aws:cdk:bundling-stacks": []})
        ServiceConstruct(Stack(app, "wide"), "Service", _service(count), stage="dev", protect=False)
        app.synth()
        template = json.loads((Path(folder) / "wide.template.json").read_text(encoding="utf-8"))
    return len(template["Resources"])


def _service(count: int) -> Service:
    """A service of so many handlers, each an attribute of a module, as Lambda needs it."""
    module = ModuleType(f"bench_wide_{count}")
    module.__file__ = str(ROOT / "handlers" / "orders.py")
    sys.modules[module.__name__] = module
    return Service("wide", [_declare(module, number) for number in range(count)])


def _declare(module: ModuleType, number: int) -> Handler[Any]:
    def handle(order: dict[str, Any]) -> None:
        """One of many."""

    handle.__module__, handle.__name__, handle.__qualname__ = module.__name__, f"handle_{number}", f"handle_{number}"
    handler = queue(f"wide-{number}", key=lambda order: order["id"])(handle)
    setattr(module, handle.__name__, handler)
    return handler


class _Letters:
    """SQS with so many dead letters, each shown once."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._body = batch(1)["Records"][0]["body"]

    def receive_message(self, **request: Any) -> dict[str, Any]:
        """Return up to ten."""
        some = min(self._left, request["MaxNumberOfMessages"])
        self._left -= some
        return {"Messages": [self._message() for _ in range(some)]}

    def get_queue_attributes(self, **_: Any) -> dict[str, Any]:
        """Return the count."""
        return {"Attributes": {"ApproximateNumberOfMessages": str(self._left)}}

    def _message(self) -> dict[str, Any]:
        now = str(int(time.time() * 1e3))
        return {
            "MessageId": str(uuid.uuid4()),
            "ReceiptHandle": uuid.uuid4().hex,
            "Body": self._body,
            "Attributes": {
                "ApproximateReceiveCount": "6",
                "SentTimestamp": now,
                "ApproximateFirstReceiveTimestamp": now,
                "SenderId": "AIDAEXAMPLE",
            },
        }


class _Nowhere(io.StringIO):
    def write(self, text: str) -> int:
        return len(text)
