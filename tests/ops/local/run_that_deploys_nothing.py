"""`surehand local run` with everything as it is but the emulator: one message, which succeeds at once."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from surehand_cli.app import run
from surehand_cli.local import command
from surehand_cli.local.observation import Delivered, Recorded, Seen
from surehand_cli.local.progress import Progress
from surehand_cli.local.run import EMULATOR_LOG, LocalRun
from surehand_cli.local.samples import Effects, Fate, Sample, Sent, Surroundings

OPERATION = '["orders",null,["o-1"]]'


class Looks:
    """Sees the delivery at the first look, and nothing new later."""

    def __init__(self) -> None:
        self.new = [
            Delivered(
                handler="orders", message_id="m-1", operation=OPERATION, attempt=1, outcome="succeeded", code=None
            )
        ]

    def look(self) -> Seen:
        new, self.new = self.new, []
        return Seen(
            deliveries=new, other_lines=[], ledger={OPERATION: Recorded(state="succeeded")}, dead=frozenset(), waiting=0
        )


@contextmanager
def deployed_nowhere(project: object, *, port: int, display: Any) -> Iterator[LocalRun]:
    with display.step("deploying with cdk deploy"):
        pass
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / EMULATOR_LOG).touch()
        sample = Sample(title="an order", handler="orders", send=lambda _: Sent(message_id="m-1"), fate=Fate.SUCCEEDED)
        surroundings = Surroundings(
            environment={},
            samples=[sample],
            effects=lambda: Effects(total=1, duplicated=0, out_of_order=0),
            expected_effects=1,
            hints=lambda _: [("Send another", "curl http://127.0.0.1/")],
        )
        nowhere: Any = None
        looks: Any = Looks()
        progress = Progress(surroundings.samples)
        yield LocalRun(nowhere, surroundings, progress, looks, time.monotonic(), Path(folder))


if __name__ == "__main__":
    with patch.object(command, "local_run", deployed_nowhere):
        sys.exit(run(["local", "run", *sys.argv[1:]]))
