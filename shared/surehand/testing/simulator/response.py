"""What an event source mapping makes of a function's response: which messages it deletes.

Source: Lambda developer guide, "Handling errors for an SQS event source in Lambda", success and failure conditions;
the cases of `{}` and of a bad key name are validated against AWS by LocalStack's suite. Marked [inferred]: the page
does not say.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


def kept(response: Any, message_ids: Collection[str], *, partial: bool) -> frozenset[str]:
    """Return the ids of the messages that stay in the queue after a call that ended without an error.

    *response* is what came back as JSON; *partial* is whether the mapping has `ReportBatchItemFailures`.
    """
    if not partial:
        return frozenset()
    if response in (None, "", {}):
        return frozenset()
    if not isinstance(response, dict):
        return frozenset(message_ids)  # no EventResponse at all [inferred]
    failures = response.get("batchItemFailures")
    if failures is None:
        return frozenset()  # a null list; also a misspelt key, since unknown keys are ignored [inferred]
    if not isinstance(failures, list):
        return frozenset(message_ids)  # [inferred]
    reported = set()
    for failure in failures:
        identifier = failure.get("itemIdentifier") if isinstance(failure, dict) else None
        if not isinstance(identifier, str) or identifier not in message_ids:
            return frozenset(message_ids)  # missing or misspelt key, null, empty or unknown id: all of them failed
        reported.add(identifier)
    return frozenset(reported)
