"""Cold start: from nothing to the first response, in a fresh interpreter, for the shop's own handler of orders."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.cold import child
from bench.figures import Figure, compared
from bench.figures import Target as Bound
from bench.sides.order import REGION, batch
from bench.speed.node import use_locked_node
from bench.spread import Measure, in_turns
from bench.wire.server import tables_over_http
from handlers.service import SHOP
from local.provider_stub import provider_stub

ROOT = Path(__file__).resolve().parents[2]
OURS, PEER = ("handlers.orders", "charge_order"), ("bench.cold.peer_orders", "lambda_handler")
_LISTED = 12


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts fresh interpreters in the environment of a deployed function, with *path* in front of everything."""

    environment: Mapping[str, str]
    folder: Path
    path: tuple[Path, ...]

    def start(self, module: str, attribute: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Run one cold start to its end."""
        event = self.folder / "event.json"
        event.write_text(json.dumps(batch(1)), encoding="utf-8")
        command = [sys.executable, *options, str(child.__file__), module, attribute, str(event)]
        environment = {**self.environment, "PYTHONPATH": os.pathsep.join(map(str, self.path))}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
        if told(done)["answer"] != {"batchItemFailures": []}:
            raise AssertionError(f"{module} put the message back")
        return done

    def measure(self, module: str, attribute: str, what: str) -> Measure:
        """Return a measurement of one of the numbers that the child prints."""
        return lambda: float(told(self.start(module, attribute))[what])


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return what the child printed last."""
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@contextmanager
def starter(*path: Path) -> Iterator[Starter]:
    """Yield a starter with DynamoDB and the shop's provider on the loopback device."""
    with tables_over_http() as dynamodb, provider_stub() as stub, tempfile.TemporaryDirectory() as folder:
        environment = {
            "PATH": os.environ["PATH"],
            "AWS_LAMBDA_FUNCTION_NAME": "bench-orders",
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL_DYNAMODB": dynamodb,
            "SUREHAND_SERVICE": "shop",
            "SUREHAND_STAGE": "bench",
            "SUREHAND_HANDLER": "orders",
            "SUREHAND_TABLE": "shop-bench-ledger",
            "SUREHAND_QUEUE_ORDERS": f"https://sqs.{REGION}.amazonaws.com/000000000000/shop-bench-orders",
            "IDEMPOTENCY_TABLE": "shop-bench-idempotency",
            "PAYMENTS_URL": stub.url,
        }
        yield Starter(environment, Path(folder), path or (ROOT / "shared", ROOT))


def cold(*, runs: int) -> Iterator[Figure]:
    """Yield wall and CPU of both sides, and what costs our time."""
    with starter() as made:
        for what, target in (("cpu_ms", (Bound("ratio", 0.85),)), ("wall_ms", (Bound("ratio", 0.85),))):
            turns = in_turns(made.measure(*OURS, what), made.measure(*PEER, what), runs=runs)
            yield compared("cold", {"of": what.removesuffix("_ms")}, turns, unit="ms", targets=target)
        for name, (module, attribute) in (("surehand", OURS), ("powertools", PEER)):
            listed = [imports(name, made.start(module, attribute, "-X", "importtime").stderr) for _ in range(5)]
            yield min(listed, key=lambda one: float(one.values["total_ms"]))


def asset(*, runs: int) -> Iterator[Figure]:
    """Yield the same from the bundle that is deployed, in a folder that is read-only, as Lambda's.

    Once as it is by default, and once with bytecode (`-c bytecode=`). boto3 is the environment's own, as Lambda brings
    its own. The peer starts from the same bundle.
    """
    use_locked_node()
    for name, compiler in (("asset", None), ("asset with bytecode", sys.executable)):
        with tempfile.TemporaryDirectory() as folder:
            bundle = Path(folder) / "asset"
            bundle.mkdir()
            _build(bundle, compiler)
            with starter(bundle) as made:
                bare = replace(made, environment={**made.environment, "PYTHONDONTWRITEBYTECODE": "1"})
                for what in ("cpu_ms", "wall_ms"):
                    ours, peer = bare.measure(*OURS, what), bare.measure("peer_orders", "lambda_handler", what)
                    turns = in_turns(ours, peer, runs=runs)
                    yield compared("cold", {"of": f"{what.removesuffix('_ms')}, {name}"}, turns, unit="ms")


def _build(bundle: Path, compiler: str | None) -> None:
    from surehand_cdk.bundling import Target, bundle_of
    from surehand_cdk.bytecode import compile_all

    bundle_of(SHOP, Target.HOST).build(bundle)
    shutil.copy(Path(str(child.__file__)).with_name("peer_orders.py"), bundle)
    if compiler is not None:
        compile_all(bundle, by=compiler)


def imports(side: str, listed: str) -> Figure:
    """Return what `-X importtime` says, as milliseconds of own time by top-level package."""
    own: dict[str, float] = defaultdict(float)
    count = 0
    for line in listed.splitlines():
        if line.startswith("import time:") and "self [us]" not in line:
            microseconds, _, name = line.removeprefix("import time:").split("|")
            own[name.strip().partition(".")[0]] += int(microseconds) / 1e3
            count += 1
    largest = sorted(own.items(), key=lambda entry: -entry[1])[:_LISTED]
    values = {"modules": count, "total_ms": round(sum(own.values()), 1)}
    return Figure(
        name="imports", under={"side": side}, values={**values, **{name: round(ms, 1) for name, ms in largest}}
    )
