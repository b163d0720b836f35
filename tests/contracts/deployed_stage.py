"""A synthesised service on the emulator, as far as its functions can see: what their variables name exists."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from botocore.config import Config
from botocore.session import get_session

from surehand import Handler, Service, entrypoint, ingress
from surehand.aws import clients
from surehand.declare import queue_name
from surehand.testing.world import table_definition

#: A busy machine is no outage.
_PATIENT = Config(connect_timeout=10, read_timeout=30)
STAGE = "dev"


@dataclass
class DeployedStage:
    """The resources of *template*, created at the emulator's *url*."""

    template: Mapping[str, Any]
    service: Service
    url: str
    names: dict[str, str] = field(default_factory=dict)
    _clients: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for id, resource in self.template["Resources"].items():
            create = _CREATED.get(resource["Type"])
            if create is not None:
                self.names[id] = create(self.client, resource["Properties"])

    def client(self, service: str) -> Any:
        """Return a client of the test's own."""
        if service not in self._clients:
            self._clients[service] = get_session().create_client(service, endpoint_url=self.url, config=_PATIENT)
        return self._clients[service]

    @contextmanager
    def inside(self, function: str) -> Iterator[None]:
        """Give this process the environment of the deployed function of that name."""
        (properties,) = [
            resource["Properties"]
            for resource in self.template["Resources"].values()
            if resource["Type"] == "AWS::Lambda::Function" and resource["Properties"]["FunctionName"] == function
        ]
        variables = {
            name: value if isinstance(value, str) else self.names[value["Ref"]]
            for name, value in properties["Environment"]["Variables"].items()
        }
        here = {"AWS_LAMBDA_FUNCTION_NAME": function, "AWS_ENDPOINT_URL": self.url, **variables}
        with patch.dict(os.environ, here):
            yield

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Let the functions' clients wait for a busy machine; what is built meanwhile is forgotten in the end."""
        waiting = {name: getattr(clients, name).merge(_PATIENT) for name in ("LEDGER", "QUEUES")}
        with patch.multiple(clients, **waiting):
            try:
                yield
            finally:
                entrypoint.forget()
                ingress.forget()

    def queue_url(self, handler: Handler[Any]) -> str:
        """Return the URL of a handler's queue."""
        name = queue_name(self.service.name, STAGE, handler)
        return str(self.client("sqs").get_queue_url(QueueName=name)["QueueUrl"])

    def empty(self, handler: Handler[Any]) -> None:
        """Remove what an earlier path has left in a handler's queue."""
        self.client("sqs").purge_queue(QueueUrl=self.queue_url(handler))

    def receive(self, handler: Handler[Any], count: int) -> list[dict[str, Any]]:
        """Receive *count* messages, as records of a Lambda event."""
        found: list[dict[str, Any]] = []
        for _ in range(50):
            answer = self.client("sqs").receive_message(
                QueueUrl=self.queue_url(handler),
                MaxNumberOfMessages=min(10, count - len(found)),
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
                VisibilityTimeout=600,
            )
            found += [_record(handler, message) for message in answer.get("Messages", ())]
            if len(found) == count:
                return found
        raise AssertionError(f"{len(found)} of {count} messages arrived at {handler!r}")

    def send(self, handler: Handler[Any], bodies: Sequence[str], group: Callable[[int], str]) -> None:
        """Send bodies to a handler's queue, as a producer does; *group* names the FIFO group of each."""
        for index, body in enumerate(bodies):
            fifo = {"MessageGroupId": group(index), "MessageDeduplicationId": uuid.uuid4().hex}
            self.client("sqs").send_message(
                QueueUrl=self.queue_url(handler), MessageBody=body, **(fifo if handler.options.fifo else {})
            )


def _queue(client: Callable[[str], Any], properties: Mapping[str, Any]) -> str:
    fifo = {"FifoQueue": "true"} if properties.get("FifoQueue") else {}
    return str(client("sqs").create_queue(QueueName=properties["QueueName"], Attributes=fifo)["QueueUrl"])


def _table(client: Callable[[str], Any], properties: Mapping[str, Any]) -> str:
    name = str(properties["TableName"])
    client("dynamodb").create_table(**table_definition(name))
    return name


def _bucket(client: Callable[[str], Any], _: Mapping[str, Any]) -> str:
    name = f"bodies-{uuid.uuid4().hex[:12]}"
    client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    return name


_CREATED: Mapping[str, Callable[[Callable[[str], Any], Mapping[str, Any]], str]] = {
    "AWS::SQS::Queue": _queue,
    "AWS::DynamoDB::Table": _table,
    "AWS::S3::Bucket": _bucket,
}


def _record(handler: Handler[Any], message: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": dict(message["Attributes"]),
        "messageAttributes": {
            name: {"stringValue": value["StringValue"], "dataType": value["DataType"]}
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:eu-west-1:000000000000:{handler.name}",
        "awsRegion": "eu-west-1",
    }
