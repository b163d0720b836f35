"""Synthesise in this process, the way the CDK's command line does: with the flags of cdk.json and every validation."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import App, Stack

from surehand_cdk import ServiceConstruct, Watch, validate

ROOT = Path(__file__).resolve().parents[2]
FLAGS: Mapping[str, Any] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
#: Skips the bundling, which takes seconds and matters only where the asset does.
WITHOUT_CODE: Mapping[str, Any] = {"aws:cdk:bundling-stacks": []}
WATCH = "watch"

Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of CDK's validation report, which holds only what nobody acknowledged."""

    plugin: str
    rule: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A written assembly: *templates* by stack name, and what the validations found."""

    directory: Path
    templates: Mapping[str, Mapping[str, Any]]
    findings: tuple[Finding, ...]

    @property
    def template(self) -> Mapping[str, Any]:
        """The template of the only stack, not counting the one that watches it."""
        (template,) = [template for name, template in self.templates.items() if name != WATCH]
        return template

    def of_type(self, kind: str) -> dict[str, Resource]:
        """Return the resources of a type by logical id, over all stacks but the one that watches."""
        return {
            id: resource
            for name, template in self.templates.items()
            for id, resource in template["Resources"].items()
            if name != WATCH and resource["Type"] == kind
        }


def new_app(directory: Path | None = None, **context: Any) -> App:
    """Return an app with the flags of cdk.json; *context* adds to them, underscores standing for themselves."""
    if directory is None:
        directory = Path(tempfile.mkdtemp(prefix="surehand-synth-"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return App(outdir=str(directory), context={**FLAGS, **context})


def validated(app: App, service: ServiceConstruct) -> Synthesis:
    """Synthesise *app* as a team would deploy it: with the watch stack, and judged by every layer."""
    Watch(Stack(app, WATCH), "Watch", service, profile="lean")
    validate(app)
    return synthesise(app)


def synthesise(app: App) -> Synthesis:
    """Write the assembly of *app* and read it back, also when the validations refuse it."""
    try:
        app.synth()
    except RuntimeError as error:
        if "ValidationFailed" not in str(error):
            raise
    directory = Path(app.outdir)
    return Synthesis(
        directory=directory,
        templates={
            path.name.removesuffix(".template.json"): json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(directory.glob("*.template.json"))
        },
        findings=tuple(_findings(directory / "validation-report.json")),
    )


def _findings(report: Path) -> Iterator[Finding]:
    if not report.is_file():
        return
    for plugin in json.loads(report.read_text(encoding="utf-8"))["pluginReports"]:
        for violation in plugin["violations"]:
            for construct in violation["violatingConstructs"]:
                yield Finding(
                    plugin=plugin["pluginName"],
                    rule=violation["ruleName"],
                    path=construct.get("constructPath", ""),
                    text=violation["description"],
                )
