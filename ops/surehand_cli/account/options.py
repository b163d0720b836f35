"""The options that every command which reaches AWS has, declared once."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from surehand import DeclarationError
from surehand.declare import STAGE
from surehand.declare.options import check_name
from surehand_cli.account.place import Place
from surehand_cli.account.session import Account
from surehand_cli.problem import Problem
from surehand_cli.project import find_project
from surehand_cli.terminal.output import Output

_PANEL = "Where"
Stage = Annotated[
    str,
    typer.Option("--stage", envvar=STAGE, help="The stage, as in `cdk deploy -c env=STAGE`.", rich_help_panel=_PANEL),
]
Profile = Annotated[
    str | None, typer.Option("--profile", help="A profile of the AWS configuration.", rich_help_panel=_PANEL)
]
Region = Annotated[str | None, typer.Option("--region", help="The AWS Region.", rich_help_panel=_PANEL)]
Endpoint = Annotated[
    str | None, typer.Option("--endpoint-url", help="Another endpoint, such as the emulator's.", rich_help_panel=_PANEL)
]
Json = Annotated[bool, typer.Option("--json", help="Lines of JSON on standard output.", rich_help_panel=_PANEL)]

_ADDED: dict[str, tuple[Any, Any]] = {
    "stage": (Stage, "dev"),
    "profile": (Profile, None),
    "region": (Region, None),
    "endpoint_url": (Endpoint, None),
    "json": (Json, False),
}


def located(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options above; its first two parameters, *place* and *output*, are made of them."""
    signature = inspect.signature(verb, eval_str=True)
    own = [parameter for name, parameter in signature.parameters.items() if name not in ("place", "output")]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, (annotation, default) in _ADDED.items()
    ]

    @functools.wraps(verb)
    def located_verb(*arguments: Any, **options: Any) -> None:
        given = {name: options.pop(name) for name in _ADDED}
        output = Output(json=given["json"])
        account = Account(
            given["profile"], given["region"], given["endpoint_url"] or os.environ.get("AWS_ENDPOINT_URL")
        )
        try:
            check_name(given["stage"], "Stage")
        except DeclarationError as error:
            raise Problem(f"--stage: {error}") from None
        place = Place(find_project(Path.cwd()), given["stage"], account)
        verb(place, output, *arguments, **options)

    parameters = [*own, *added]
    located_verb.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    located_verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
    del located_verb.__wrapped__
    return located_verb
