"""Which IAM actions code calls: every request of every botocore client of this process, recorded while a block runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from botocore.client import BaseClient

#: PartiQL has an action per kind of statement, and a transaction those of its parts. Sources:
#: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html,
#: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
_STATEMENTS = {"INSERT": "Insert", "UPDATE": "Update", "SELECT": "Select", "DELETE": "Delete"}
_PARTS = {"ConditionCheck": "ConditionCheckItem", "Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}


@dataclass(frozen=True, slots=True)
class Call:
    """One request: service and operation as botocore names them, and the body where it is JSON."""

    service: str
    operation: str
    body: Mapping[str, Any]

    @property
    def actions(self) -> Iterator[str]:
        """The IAM actions that AWS asks for."""
        if self.service == "dynamodb" and self.operation == "BatchExecuteStatement":
            for one in self.body["Statements"]:
                yield f"dynamodb:PartiQL{_STATEMENTS[one['Statement'].split()[0]]}"
        elif self.service == "dynamodb" and self.operation == "TransactWriteItems":
            for one in self.body["TransactItems"]:
                yield from (f"dynamodb:{_PARTS[part]}" for part in one)
        elif self.service == "sqs":
            yield f"sqs:{self.operation.removesuffix('Batch')}"
        else:
            yield f"{self.service}:{self.operation}"


@dataclass(slots=True)
class Calls:
    """What was called, in order, from whatever thread."""

    made: list[Call] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def actions(self) -> set[str]:
        """The actions of all calls."""
        return {action for call in self.made for action in call.actions}


@contextmanager
def recording(calls: Calls) -> Iterator[None]:
    """Add the requests of every client, also of those that are built meanwhile, as they go to the wire."""
    send = BaseClient._make_request  # type: ignore[attr-defined]  # not in the stubs

    def record(self: Any, operation_model: Any, request_dict: Any, request_context: Any) -> Any:
        service = operation_model.service_model
        body = json.loads(request_dict["body"]) if service.protocol == "json" else {}
        with calls.lock:
            calls.made.append(Call(service.service_name, operation_model.name, body))
        return send(self, operation_model, request_dict, request_context)

    with patch.object(BaseClient, "_make_request", record):
        yield
