"""Every exception that crosses a module.

| raised               | means                                                        | the operator sees                              |
| -------------------- | ------------------------------------------------------------ | ---------------------------------------------- |
| `DeclarationError`   | a declaration is impossible or contradicts another           | the import or the synth fails, naming the fix  |
| `ConfigurationError` | the environment lacks what the declaration needs             | the function fails at init, naming the variable |
| `UnreadableEvent`    | the event is no SQS event, or a record cannot be answered    | the invocation fails; SQS keeps every message  |
| `NotSent`            | SQS refused some of the messages of a `send`                 | the caller's exception, entry by entry         |
| `LedgerUnavailable`  | DynamoDB throttled, timed out or refused                     | messages are put back, nothing ran unclaimed   |
| `CursorUnreadable`   | a saved cursor does not fit the type it is asked for as      | the message is rejected with `schedule.cursor` |
| `WritesRefused`      | a write that joined `save_cursor` was refused                | the caller's exception; nothing was saved      |

A fate that a handler chooses (`Retry`, `Reject`, …) is no error of ours and stands in `surehand.outcomes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class SurehandError(Exception):
    """What every exception of the framework descends from."""


class DeclarationError(SurehandError):
    """A handler, service, scheme or schedule is declared in a way that cannot work.

    Raised at import, with the handler's name, the limit, what was given and what to do.
    """


class ConfigurationError(SurehandError):
    """The environment lacks a variable that the declaration needs, or holds one that cannot be read."""


class UnreadableEvent(SurehandError, ValueError):
    """The event is not an SQS event, or one of its records has no message id and so cannot be answered."""


class LedgerUnavailable(SurehandError):
    """The ledger could not answer: throttled, timed out, unreachable or refused. Nothing is known to be written."""


class CursorUnreadable(SurehandError):
    """A saved cursor is not of the type it is asked for as: the type has changed since. Names error types, no values."""


class WritesRefused(SurehandError):
    """A write that was to join `save_cursor` was refused, so neither it nor the cursor was written.

    `reasons` holds DynamoDB's code for each of the caller's writes, in order: "None" for one that was not at fault.
    """

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        listed = ", ".join(f"with_writes[{index}]: {code}" for index, code in enumerate(reasons) if code != "None")
        super().__init__(f"nothing was saved; {listed}")


@dataclass(frozen=True, slots=True)
class Refused:
    """One message that SQS did not take.

    *index* counts from 0 in the order of the payloads given; *code* is SQS's own error code.
    """

    index: int
    code: str


class NotSent(SurehandError):
    """Some messages were not accepted by SQS; all the others were.

    `refused` lists them in the order given. Sending just those again is safe.
    """

    def __init__(self, handler: str, refused: Sequence[Refused], total: int) -> None:
        self.handler = handler
        self.refused = tuple(refused)
        entries = ", ".join(f"#{entry.index} ({entry.code})" for entry in self.refused[:10])
        more = f" and {len(self.refused) - 10} more" if len(self.refused) > 10 else ""
        super().__init__(
            f"{len(self.refused)} of {total} messages to '{handler}' were not sent: {entries}{more}. "
            "The others were accepted; send only these again."
        )
