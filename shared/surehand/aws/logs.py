"""The user's own log records as JSON lines that carry the operation, by Powertools' formatter.

The user logs with the standard library (`logging.getLogger(__name__)`); there is no logger of ours to import.
"""

from __future__ import annotations

import logging
from functools import cached_property

from surehand.worker.context import current


class OperationFormatter(logging.Formatter):
    """JSON lines with the fields of the attempt in which the record is written."""

    @cached_property
    def _lines(self) -> logging.Formatter:
        """Imported with the first record: 15 ms of a cold start that a handler without a log line never needs."""
        from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

        return LambdaPowertoolsFormatter()

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        for name, value in current().items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return self._lines.format(record)
