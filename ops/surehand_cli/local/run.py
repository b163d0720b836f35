"""A local run from beginning to end."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from surehand_cli.local.deployed import STAGE, Deployed
from surehand_cli.local.display import Display
from surehand_cli.local.emulator import emulator
from surehand_cli.local.observation import Observer
from surehand_cli.local.progress import Progress, Track
from surehand_cli.local.queue_messages import QueueMessage, send_together
from surehand_cli.local.report import Report, report
from surehand_cli.local.samples import Surroundings
from surehand_cli.local.toolchain import Toolchain
from surehand_cli.project import Project

#: A crashed invocation's messages come back after this long. Longer than any function's timeout, so that a batch on a
#: slow machine is not delivered twice.
VISIBILITY_SECONDS = 60
#: How long the samples may take. The slowest way is that to the dead-letter queue: about 10 receives, 1 to 5 s apart.
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.3


@dataclass(slots=True)
class LocalRun:
    """A service that is deployed to the emulator and has been met by its samples."""

    deployed: Deployed
    surroundings: Surroundings
    progress: Progress
    observer: Observer
    started: float
    complaints: list[str] = field(default_factory=list)

    def follow(self, display: Display, until: Callable[[], bool]) -> None:
        """Send what is due and show what happens until *until* says so."""
        while True:
            self._send(self.progress.due())
            seen = self.observer.look()
            self.complaints += [line for line in seen.other_lines if "rror" in line or "Traceback" in line]
            self.progress.add(seen)
            display.tracks(self.progress.tracks)
            if until():
                return
            time.sleep(LOOK_SECONDS)

    def _send(self, due: Sequence[Track]) -> None:
        together: list[tuple[Track, QueueMessage]] = []
        for track in due:
            send = track.sample.send if track.sample is not None else None
            if isinstance(send, QueueMessage):
                together.append((track, send))
            elif send is not None:
                track.sent = send(self.deployed)
        sent = send_together(self.deployed, [message for _, message in together])
        for (track, _), one in zip(together, sent, strict=True):
            track.sent = one

    def report(self) -> Report:
        """Return what it has come to so far."""
        return report(
            self.progress.tracks,
            self.surroundings.effects(),
            expected_effects=self.surroundings.expected_effects,
            seconds=time.monotonic() - self.started,
        )


@contextmanager
def local_run(project: Project, *, port: int, display: Display) -> Iterator[LocalRun]:
    """Start the surroundings and the emulator, deploy the service, and yield; then stop and remove all of it.

    The logs of the tools stay in `.surehand/` if the block fails.

    Raises:
        Problem: Something is missing, the port is taken, or a tool failed.
    """
    started = time.monotonic()
    folder = _folder(project.root)
    toolchain = Toolchain(project.root, folder)
    toolchain.check()
    service = project.service()
    surround: Callable[[], AbstractContextManager[Surroundings]] = project.named("local")
    with ExitStack() as stack:
        surroundings = stack.enter_context(surround())
        synthesis = toolchain.synthesise(folder / "cdk.out", _context(surroundings))
        stack.enter_context(synthesis.process)
        with display.step("starting the emulator"):
            endpoint = stack.enter_context(emulator(toolchain.emulator, port=port, log=folder / "emulator.log"))
        with display.step("preparing it with cdk bootstrap, and synthesising the stacks meanwhile"):
            (elsewhere := folder / "bootstrap").mkdir()
            bootstrap = toolchain.bootstrap(endpoint, elsewhere)
            stack.enter_context(bootstrap.process)
            bootstrap.finish()
            synthesis.finish()
        with display.step("deploying with cdk deploy"):
            deploy = toolchain.deploy(endpoint, folder / "cdk.out", folder / "outputs.json")
            stack.enter_context(deploy.process)
            deploy.finish()
        outputs = json.loads((folder / "outputs.json").read_text(encoding="utf-8"))
        deployed = Deployed(service, endpoint, outputs)
        yield LocalRun(deployed, surroundings, Progress(surroundings.samples), Observer(deployed), started)
    shutil.rmtree(folder, ignore_errors=True)


def _folder(root: Path) -> Path:
    """Make a folder for one run's assembly and logs; those of the last runs but three go."""
    above = root / ".surehand"
    above.mkdir(exist_ok=True)
    for old in sorted(above.glob("run-*"), key=lambda path: path.stat().st_mtime)[:-3]:
        shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix="run-", dir=above))


def _context(surroundings: Surroundings) -> dict[str, str]:
    return {
        "env": STAGE,
        "target": "host",
        "visibility_seconds": str(VISIBILITY_SECONDS),
        "environment": json.dumps(dict(surroundings.environment)),
    }


def finished(run: LocalRun, *, patience: float = PATIENCE_SECONDS) -> Callable[[], bool]:
    """Return a test for the end: every message has met its fate, or the time from now is over."""
    limit = time.monotonic() + patience
    return lambda: run.progress.done or time.monotonic() > limit


def last_complaints(run: LocalRun, count: int = 5) -> Sequence[str]:
    """Return the last lines of the functions' logs that speak of an error."""
    return run.complaints[-count:]
