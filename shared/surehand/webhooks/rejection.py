"""Why a request is refused, as a closed list, and the status that its sender is told.

The statuses are those of the table in `docs/webhooks.md`. A refusal says nothing more than its status to the sender:
*reason* and *detail* are for metrics, logs and `surehand webhook check`, and never hold a value of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Reason(StrEnum):
    """Why a request is refused."""

    #: The platform's event, or a body that the scheme must read before it can verify, cannot be read.
    MALFORMED = "malformed"
    #: None of the scheme's signature places is present.
    MISSING_SIGNATURE = "missing_signature"
    #: A signature, its timestamp or its id is present and cannot be what the scheme sends.
    MALFORMED_SIGNATURE = "malformed_signature"
    #: No signature matches any key.
    BAD_SIGNATURE = "bad_signature"
    #: Correctly signed, and older than the scheme's tolerance.
    STALE = "stale"
    #: Correctly signed, and further ahead of the clock than the scheme's tolerance.
    FROM_THE_FUTURE = "from_the_future"
    #: Correctly signed for another tenant than the one of the path.
    OTHER_TENANT = "other_tenant"
    #: A handshake carries the wrong verify token.
    BAD_VERIFY_TOKEN = "bad_verify_token"
    #: No source, or no tenant of this source, has this path.
    UNKNOWN_SOURCE = "unknown_source"
    #: The scheme does not take this method.
    WRONG_METHOD = "wrong_method"
    #: The source is declared gone: its sender is asked to unsubscribe.
    GONE = "gone"
    #: The body is larger than the source's cap.
    TOO_LARGE = "too_large"
    #: The scheme pins its content types and this is none of them.
    WRONG_CONTENT_TYPE = "wrong_content_type"


#: The status for each reason. Discord requires 401 for a bad signature; 410 makes several senders unsubscribe,
#: so an unknown source is a 404.
STATUS: Mapping[Reason, int] = MappingProxyType(
    {
        Reason.MALFORMED: 400,
        Reason.MISSING_SIGNATURE: 401,
        Reason.MALFORMED_SIGNATURE: 401,
        Reason.BAD_SIGNATURE: 401,
        Reason.STALE: 401,
        Reason.FROM_THE_FUTURE: 401,
        Reason.OTHER_TENANT: 401,
        Reason.BAD_VERIFY_TOKEN: 403,
        Reason.UNKNOWN_SOURCE: 404,
        Reason.WRONG_METHOD: 405,
        Reason.GONE: 410,
        Reason.TOO_LARGE: 413,
        Reason.WRONG_CONTENT_TYPE: 415,
    }
)


class Rejected(Exception):
    """A request is refused. The only exception that a request can make the engine raise.

    *reason* is one of the closed list. *detail* names headers, fields and rules, never a value of the request.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}" if detail else str(reason))

    @property
    def status(self) -> int:
        """The HTTP status for the sender."""
        return STATUS[self.reason]
