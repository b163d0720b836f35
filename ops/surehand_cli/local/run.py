"""A local run from beginning to end."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
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
from surehand_cli.local.toolchain import Toolchain, check, emulator_of
from surehand_cli.project import Project

#: A crashed invocation's messages come back after this long. Longer than any function's timeout, so that a batch on a
#: slow machine is not delivered twice.
VISIBILITY_SECONDS = 60
#: How long the samples may take. The slowest way is that to the dead-letter queue: about 10 receives, 1 to 5 s apart.
PATIENCE_SECONDS = 180.0
LOOK_SECONDS = 0.3
EMULATOR_LOG = "emulator.log"


@dataclass(slots=True)
class LocalRun:
    """A service that is deployed to the emulator and has been met by its samples."""

    deployed: Deployed
    surroundings: Surroundings
    progress: Progress
    observer: Observer
    started: float
    #: The folder of this run's logs; it is kept if the run was not good.
    folder: Path
    #: What the functions themselves have said of errors.
    said: list[str] = field(default_factory=list)

    def follow(self, display: Display, until: Callable[[], bool]) -> None:
        """Send what is due and show what happens until *until* says so."""
        while True:
            self._send(self.progress.due())
            seen = self.observer.look()
            self.said += [line for line in seen.other_lines if "Traceback" in line or "ERROR" in line]
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

    @property
    def broken(self) -> Sequence[str]:
        """What the emulator says of functions that cannot even start. Waiting would not help them."""
        return [line for line in self._errors() if "init failed" in line]

    @property
    def complaints(self) -> Sequence[str]:
        """The last words of functions and emulator about errors."""
        return list(dict.fromkeys([*self.broken[:3], *self.said[-5:], *self._errors()[-5:]]))

    def _errors(self) -> list[str]:
        lines = (self.folder / EMULATOR_LOG).read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.partition(" ERROR ")[2] for line in lines if " ERROR [lambda" in line and not line.startswith("{")]

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

    The logs of the tools stay in `.surehand/` if the block fails or the run was not good.

    Raises:
        Problem: Something is missing, the port is taken, or a tool failed.
    """
    started = time.monotonic()
    check(project.root)
    service = project.service()
    folder = _folder(project.root)
    toolchain = Toolchain(project.root, folder)
    with ExitStack() as stack:
        surroundings = stack.enter_context(surroundings_of(project))
        synthesis = toolchain.synthesise(folder / "cdk.out", _context(surroundings))
        stack.enter_context(synthesis.process)
        with display.step("starting the emulator"):
            endpoint = stack.enter_context(emulator(emulator_of(project.root), port=port, log=folder / EMULATOR_LOG))
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
        surroundings.prepare(deployed)
        progress = Progress(surroundings.samples)
        yield (run := LocalRun(deployed, surroundings, progress, Observer(deployed), started, folder))
    if run.report().good:
        shutil.rmtree(folder, ignore_errors=True)


def surroundings_of(project: Project) -> AbstractContextManager[Surroundings]:
    """Return what `[tool.surehand] local` names; without it, surroundings in which nothing is sent.

    Raises:
        Problem: It cannot be loaded.
    """
    if "local" not in project.settings:
        return nullcontext(Surroundings())
    surround: Callable[[], AbstractContextManager[Surroundings]] = project.named("local")
    return surround()


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
        "bytecode": sys.executable,
        "visibility_seconds": str(VISIBILITY_SECONDS),
        "environment": json.dumps(dict(surroundings.environment)),
    }


def finished(run: LocalRun, *, patience: float = PATIENCE_SECONDS) -> Callable[[], bool]:
    """Return a test for the end: every message has met its fate, a function is broken, or the time from now is over."""
    limit = time.monotonic() + patience
    return lambda: run.progress.done or bool(run.broken) or time.monotonic() > limit
