"""Failure codes: `<class>.<name>`, short, dotted, free of payload values.

Users register nothing: any code of the right shape is theirs to raise, and one whose class is unknown is treated as
`code`. The framework's own codes are in `CODES`, with their meaning; `docs/codes.md` is generated from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SHAPE = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z0-9_]{1,64}){1,4}")

#: A code is at most this long, so that a ledger item stays small and a log field searchable.
LONGEST = 100

#: class → the alarm class it counts in. `canceled` outcomes count in none, whatever their code.
CLASSES: Mapping[str, str] = {
    "provider": "provider",
    "effect": "provider",
    "data": "data",
    "input": "data",
    "code": "code",
    "crash": "code",
    "ledger": "code",
    "schedule": "code",
}

#: The codes that the framework gives by itself.
CODES: Mapping[str, str] = {
    "input.malformed": "The record cannot be read, or its body is not JSON. Permanent.",
    "input.schema": "The body does not fit the handler's payload type. Permanent.",
    "input.key": "A key or tenant field is missing, empty or of a type that cannot name an operation. Permanent.",
    "input.conflict": "The same key came with another payload. The first one stands. Permanent for this message.",
    "input.envelope": "The SNS, EventBridge or webhook envelope around the payload cannot be read. Permanent.",
    "input.version": "The webhook envelope has a version that this deployment does not know. Permanent.",
    "input.digest": "The stored body of a webhook is gone, or not the one that was verified. Permanent.",
    "input.id_conflict": "A webhook's id that nobody signs came before with another event. A notice: both events run.",
    "code.<Type>": "The handler raised an exception of that type without choosing a fate. Retried.",
    "code.bad_code": "The handler's fate was given no code of the form `<class>.<name>`. The fate stands. A notice.",
    "code.result": "The handler returned what JSON cannot hold, so only its type was kept. A notice: it succeeded.",
    "code.unrun": "The handler returned a generator, of which nothing has run. Retried, with a notice.",
    "code.gave_up": "Older than give_up_after, or than SQS keeps it, before an attempt could end. Permanent.",
    "code.exhausted": "max_attempts was already reached when the message came. Permanent.",
    "provider.timeout": "A network call of the handler timed out. Retried.",
    "provider.unreachable": "A network call of the handler could not connect. Retried.",
    "provider.throttled": "A service that the handler called throttled it (429, or AWS's equivalent). Retried.",
    "provider.unavailable": "A service that the handler called answered 5xx. Retried.",
    "provider.body": "The stored body of a webhook cannot be fetched. Nothing ran; the message is put back.",
    "effect.timeout": "The handler was interrupted before Lambda's deadline. Its effect is unknown.",
    "effect.interrupted": "The process died while the handler ran. Its effect is unknown.",
    "effect.unanswered": "on_unknown could not ask what became of the effect. It asks again before anything runs.",
    "effect.unknown": "Held: nobody knows whether the effect happened, and on_unknown says to ask an operator.",
    "crash.poison": "The process died repeatedly while this operation ran alone. Permanent.",
    "ledger.unavailable": "The ledger could not be written or read. Nothing ran unclaimed; the message is put back.",
    "ledger.id_unchecked": "Whether a webhook's unsigned id came before could not be read. A notice: the event runs.",
    "ledger.fence_lost": "Another invocation had claimed the operation by the time this one settled.",
    "schedule.late": "The tick came later than catch_up after its moment. Canceled, not run.",
    "schedule.overlap": "An earlier tick's run had not ended. Canceled, or with overlap='queue' deferred.",
    "schedule.cursor": "The saved cursor does not fit the type that the handler asks for. Permanent.",
    "schedule.no_progress": "A cursor was handed over several times without moving. Permanent.",
    "schedule.too_long": "The whole run exceeded give_up_after over its hand-overs. Permanent.",
}


def is_code(text: str) -> bool:
    """Tell whether *text* has the shape of a code: `<class>.<name>`, at most 100 characters."""
    return len(text) <= LONGEST and _SHAPE.fullmatch(text) is not None


def failure_class(code: str) -> str:
    """Return the class that a code is alarmed as: `provider`, `data` or `code`. Unknown classes are `code`."""
    return CLASSES.get(code.partition(".")[0], "code")


def code_of_type(error: BaseException) -> str:
    """Return `code.<Type>` for an exception, from its class name alone."""
    name = re.sub(r"\W", "_", type(error).__name__, flags=re.ASCII)[:64] or "Exception"
    return f"code.{name}"
