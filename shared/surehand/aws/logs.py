"""The user's own log records as JSON lines that carry the operation, by Powertools' formatter.

The user logs with the standard library (`logging.getLogger(__name__)`); there is no logger of ours to import.
"""

from __future__ import annotations

import logging

from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from surehand.worker.context import current


class OperationFormatter(LambdaPowertoolsFormatter):
    """JSON lines with the fields of the attempt in which the record is written."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        for name, value in current().items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return super().format(record)
