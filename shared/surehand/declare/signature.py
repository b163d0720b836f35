"""What a handler function takes: its payload, and a Job if it wants one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from surehand.declare.payload import ALLOWED, members_of, named
from surehand.errors import DeclarationError
from surehand.job import Job

#: Set on a function that a declaration has taken and on the handler, since one function cannot be two handlers.
TAKEN = "__surehand_handler__"


def payload_of(function: Callable[..., object], *, of: str) -> tuple[Any, bool]:
    """Return the annotation of a handler function's payload, and whether the function also takes a `Job`.

    Raises:
        DeclarationError: It is no function, is a handler already, is a generator, takes no argument or more than two,
            takes them in another order, is not annotated, or names a type that exists only for the type checker.
    """
    if (taken := getattr(function, TAKEN, None)) is not None:
        raise DeclarationError(
            f"Handler '{of}': {function.__qualname__} is already the handler '{taken}'. One function is one "
            "handler; put the shared part into a function that both call."
        )
    if isinstance(function, type) or not hasattr(function, "__qualname__"):
        raise DeclarationError(f"Handler '{of}': {function!r} is no function. Declare a def of the module's top level.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise DeclarationError(
            f"Handler '{of}': {function.__qualname__} has a yield, so calling it runs nothing of it. Return instead."
        )
    _check_parameters(function, of=of)
    positional = list(inspect.signature(function).parameters.values())
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise DeclarationError(
            f"Handler '{of}': the annotation {error.name!r} of {function.__qualname__} exists only under "
            "TYPE_CHECKING or not at all. Import the payload type at run time: it validates every message."
        ) from error
    if len(positional) == 2:
        _check_job(function, positional, hints, of=of)
    if positional[0].name not in hints:
        raise DeclarationError(
            f"Handler '{of}': annotate the parameter '{positional[0].name}' of {function.__qualname__} with {ALLOWED}."
        )
    return hints[positional[0].name], len(positional) == 2


def _check_parameters(function: Callable[..., object], *, of: str) -> None:
    parameters = list(inspect.signature(function).parameters.values())
    wanted = (
        f"Handler '{of}': {function.__qualname__} must take the payload and, if it wants one, the Job: "
        f"def {function.__name__}(payload: …, job: Job)."
    )
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY:
            raise DeclarationError(f"{wanted} '{one.name}' can be given by keyword only; remove the * before it.")
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise DeclarationError(f"{wanted} It takes '{one}', which is any number of them.")
    if not 1 <= len(parameters) <= 2:
        raise DeclarationError(f"{wanted} It takes {len(parameters)} parameters.")


def _check_job(
    function: Callable[..., object], parameters: list[inspect.Parameter], hints: dict[str, Any], *, of: str
) -> None:
    first, second = (parameter.name for parameter in parameters)
    if hints.get(first) is Job:
        raise DeclarationError(
            f"Handler '{of}': {function.__qualname__} takes the Job first. The order is payload, job: "
            f"def {function.__name__}({second}: …, {first}: Job)."
        )
    annotation = hints.get(second, Job)
    if not any(_takes_job(member) for member in members_of(annotation)):
        raise DeclarationError(
            f"Handler '{of}': the parameter '{second}' of {function.__qualname__} is given the Job, and is annotated "
            f"as {named(annotation)}. Write {second}: Job."
        )


def _takes_job(member: Any) -> bool:
    try:
        return member is Any or not isinstance(member, type) or issubclass(Job, member)
    except TypeError:  # a Protocol that cannot be asked
        return True
