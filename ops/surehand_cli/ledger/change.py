"""What all writing verbs share: show what would be written, write it when told to, and say what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from surehand.ledger import NotWritten, Operation, Unavailable, Write, Written, write_surely
from surehand.ledger.operating import Act, NotDone
from surehand_cli.account.place import Place
from surehand_cli.ledger.naming import meant
from surehand_cli.problem import Problem, Refusal
from surehand_cli.terminal.output import Output

Execute = Annotated[bool, typer.Option("--execute", help="Write it. Without this nothing changes.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Why; it stays in the operation's history.")]

#: How often a write that met another writer is decided anew.
_ROUNDS = 3


def act(place: Place, *, execute: bool, reason: str | None) -> Act:
    """Return who acts and why.

    Raises:
        Refusal: Something is to be written and no reason is given.
    """
    if execute and not (reason and reason.strip()):
        raise Refusal("--execute needs --reason: it stays in the operation's history")
    return Act(
        actor=place.account.actor,
        reason=(reason or "").strip(),
        now=place.waiting.now(),
        retention=place.retention,
    )


def change(
    place: Place,
    output: Output,
    ids: list[str],
    decide: Callable[[str, Operation | None], Write | NotDone],
    *,
    execute: bool,
) -> None:
    """Decide on one operation and write it.

    Raises:
        Refusal: The rules forbid it, or the ids may name several operations; the text says why.
        Problem: Another writer changes it all the time, or nobody knows whether it was written.
    """
    chosen = ids[0]
    for _ in range(_ROUNDS):
        chosen, existing = meant(place.ledger, ids)
        decided = decide(chosen, existing)
        before = existing.state.value if existing is not None else "unknown"
        if isinstance(decided, NotDone):
            output.line({"operation": chosen, "state": before, "written": False, "why": decided.why})
            if decided.done:
                output.say(f"{chosen}: {decided.why}. Changes made: none.")
                return
            raise Refusal(f"{chosen}: {decided.why}")
        after = _called(decided)
        output.text(f"{chosen}: {before} → {after}")
        if not execute:
            output.line({"operation": chosen, "state": before, "becomes": after, "written": False})
            output.say("Changes made: none. Add --execute --reason '…' to write it.")
            return
        answer = write_surely(place.ledger, [decided], now=place.waiting.now())[0]
        if isinstance(answer, Written):
            output.line({"operation": chosen, "state": before, "becomes": after, "written": True})
            output.say(f"Written: {after}.")
            return
        if isinstance(answer, Unavailable):
            raise Problem(f"nobody knows whether it was written ({answer.reason}); look with `surehand ledger show`")
        assert isinstance(answer, NotWritten)  # noqa: S101 - the third and last of the three answers
    raise Problem(f"{chosen} is being changed by somebody else all the time; look with `surehand ledger show`")


def _called(write: Write) -> str:
    operation = write.operation
    if operation.cancel_requested and not (write.previous and write.previous.cancel_requested):
        return "a cancel is requested, which takes effect when its lease ends"
    return operation.state.value
