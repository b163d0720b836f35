"""Requests of the ledger as they are: what it asks for is DynamoDB's own JSON already.

botocore walks every parameter twice, to validate it and to copy it shape by shape into the same JSON: over 100 µs a
message, more than all of our own work on it. Here the body is encoded in one go, and put in its place by botocore's own
events; endpoint, signature, retries and the answer stay botocore's. Should an event ever fall silent, DynamoDB
refuses the request, and nothing is claimed.

Source of the events: https://docs.aws.amazon.com/boto3/latest/guide/events.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from surehand.aws.encoding import json_bytes

_BODY = "surehand.body"

#: What botocore still sees of a request: enough for its validation and for the endpoint (by table).
_SEEN: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "BatchExecuteStatement": lambda _: {"Statements": [{"Statement": "-"}]},
    "UpdateItem": lambda request: {"TableName": request["TableName"], "Key": {}},
}


def send_as_they_are(client: Any) -> None:
    """Let a DynamoDB client send the ledger's writes unwalked. Binary values would need base64: the ledger has none."""
    for operation, seen in _SEEN.items():
        client.meta.events.register(
            f"provide-client-params.dynamodb.{operation}", _taking(seen), unique_id=f"surehand-{operation}"
        )
        client.meta.events.register(f"before-call.dynamodb.{operation}", _put, unique_id=f"surehand-put-{operation}")


def _taking(seen: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Callable[..., Mapping[str, Any]]:
    def take(*, params: Mapping[str, Any], context: dict[str, Any], **_: Any) -> Mapping[str, Any]:
        context[_BODY] = json_bytes(params)
        return seen(params)

    return take


def _put(*, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    params["body"] = context.pop(_BODY)
