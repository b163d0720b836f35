"""The zip that every function of a service runs: dependencies, framework and handlers. Built without Docker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

import surehand
from surehand import Service
from surehand_cdk.bytecode import NoCompiler, compile_all, interpreter

#: The run time that is deployed. `requirements/lambda.txt` is compiled for this Python too.
PYTHON = "3.13"
_LAMBDA = ("--python-version", PYTHON, "--python-platform", "aarch64-manylinux2014")
#: Not deployed: `surehand.testing` and the plugin need the testing extra. Caches and hidden files are this machine's.
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*", "testing", "pytest_plugin.py")
_LEFT_OUT_OF_HANDLERS = shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*")


class Target(StrEnum):
    """Where the bundle shall run: on Lambda, or on this machine's interpreter for local runs and tests."""

    LAMBDA = "lambda"
    HOST = "host"


class BundleError(Exception):
    """The bundle cannot be built; says what is missing and how to get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """What goes into the zip. *requirements* is a hashed lock; *handlers* are top-level packages or modules.

    *compiler* is the interpreter whose bytecode goes in too: a path, or a version that uv looks for. None: no bytecode.
    """

    requirements: Path
    handlers: tuple[Path, ...]
    target: Target
    compiler: str | None = None

    def build(self, output: Path) -> None:
        """Fill *output*, an empty directory. Two builds of the same sources are byte-identical.

        Raises:
            BundleError: uv is not installed, or could not install the requirements, or *compiler* is not the Python
                that runs the bundle.
        """
        self._install(output)
        shutil.copytree(Path(surehand.__file__).parent, output / "surehand", ignore=_LEFT_OUT)
        for source in self.handlers:
            if source.is_dir():
                shutil.copytree(source, output / source.name, ignore=_LEFT_OUT_OF_HANDLERS)
            else:
                shutil.copy(source, output / source.name)
        _remove_differences(output)
        if self.compiler is not None:
            self._compile(output, self.compiler)
        _set_modes(output)

    def _compile(self, output: Path, request: str) -> None:
        version = PYTHON if self.target is Target.LAMBDA else "{}.{}".format(*sys.version_info)
        try:
            compile_all(output, by=interpreter(request, version=version, uv=_uv()))
        except NoCompiler as error:
            raise BundleError(
                f"-c bytecode={request}: the bundle's bytecode must be compiled by Python {version}. {error}\n"
                f"Install it and give its path (-c bytecode=/path/to/python{version}), or leave -c bytecode out: "
                "functions then compile what they import in each cold start."
            ) from error

    def _install(self, output: Path) -> None:
        platform = _LAMBDA if self.target is Target.LAMBDA else ("--python", sys.executable)
        command = [
            _uv(), "pip", "install", "--quiet", "--target", str(output), *platform, "--only-binary", ":all:",
            "--require-hashes", "--no-installer-metadata", "--no-compile-bytecode", "--link-mode", "copy",
            "--requirements", str(self.requirements),
        ]  # fmt: skip
        problem = ""
        # The hashes say what it must be, so what the cache holds needs no network; only what it lacks is downloaded.
        for network in (["--offline"], []):
            done = subprocess.run([*command, *network], env=_environment(), capture_output=True, text=True, check=False)
            if not done.returncode:
                return
            problem = done.stderr.strip()
        raise BundleError(f"uv could not install {self.requirements.name} for {self.target}:\n{problem}")


def bundle_of(
    service: Service, target: Target, requirements: Path | None = None, *, compiler: str | None = None
) -> Bundle:
    """Return the bundle of a service: the top-level package of each handler's module.

    *requirements* defaults to `requirements/lambda.txt` of the project, which is the nearest folder above the handlers
    that holds a pyproject.toml.

    Raises:
        BundleError: A handler's module has no file, or the requirements do not exist.
    """
    sources = tuple(dict.fromkeys(_top_level(handler.__module__) for handler in service.handlers))
    lock = requirements or _project(sources) / "requirements" / "lambda.txt"
    if not lock.is_file():
        raise BundleError(
            f"Service '{service.name}': the bundle's dependencies are read from {lock}, which does not exist. "
            "Compile it with `uv pip compile --universal --generate-hashes`, or name another with -c requirements=PATH."
        )
    return Bundle(requirements=lock, handlers=sources, target=target, compiler=compiler)


def code_asset(scope: Construct, id: str, bundle: Bundle) -> s3_assets.Asset:
    """Return the bundle as an asset, built at synthesis unless the stack is not being bundled."""
    return s3_assets.Asset(
        scope,
        id,
        path=str(Path(surehand.__file__).parent),
        # Of the output: the source's hash knows neither the target nor the dependencies, so the CLI would skip the
        # upload and the wrong binaries would stay deployed. No `exclude` either, which would filter the hash too.
        asset_hash_type=AssetHashType.OUTPUT,
        bundling=BundlingOptions(image=DockerImage.from_registry("scratch"), local=_LocalBundling(bundle)),
    )


@jsii.implements(ILocalBundling)
class _LocalBundling:
    """CDK's hook for bundling without Docker; it always succeeds or raises, so that the image is never asked for."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def try_bundle(self, output_dir: str, *, image: Any = None, **options: Any) -> bool:  # noqa: ARG002 - CDK's signature
        self._bundle.build(Path(output_dir))
        return True


def _top_level(module: str) -> Path:
    name = module.partition(".")[0]
    loaded = sys.modules.get(name)
    file = getattr(loaded, "__file__", None)
    if file is not None:
        path = Path(file)
        return path.parent if path.name == "__init__.py" else path
    places = list(getattr(loaded, "__path__", []))
    if len(places) != 1:
        raise BundleError(f"The handlers' package '{name}' has no single folder to copy (found {places}).")
    return Path(places[0])


def _project(sources: Iterable[Path]) -> Path:
    for source in sources:
        for folder in source.parents:
            if (folder / "pyproject.toml").is_file():
                return folder
    return Path.cwd()


def _uv() -> str:
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found is None:
        raise BundleError("The bundle is built by uv, which is not installed: pip install uv")
    return found


def _environment() -> Mapping[str, str]:
    """uv downloads wheels only, never an interpreter; behind a private authority it needs the system's certificates."""
    return {"UV_SYSTEM_CERTS": "1", **os.environ, "UV_PYTHON_DOWNLOADS": "never"}


def _remove_differences(output: Path) -> None:
    """Remove what differs between machines: console scripts name this interpreter, and RECORD holds their digest."""
    shutil.rmtree(output / "bin", ignore_errors=True)
    (output / ".lock").unlink(missing_ok=True)
    for record in output.glob("*.dist-info/RECORD"):
        record.unlink()


def _set_modes(output: Path) -> None:
    for path in output.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
