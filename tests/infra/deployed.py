"""A synthesised service read handler by handler, by names alone: not with the code that wrote the template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from surehand import Handler, Service
from surehand_cdk import ServiceConstruct
from tests.infra.synthesis import Resource, Synthesis

QUEUE = "AWS::SQS::Queue"
FUNCTION = "AWS::Lambda::Function"
MAPPING = "AWS::Lambda::EventSourceMapping"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """One service and its template."""

    service: Service
    stage: str
    protect: bool
    construct: ServiceConstruct
    synthesis: Synthesis

    def __iter__(self) -> Iterator[Parts]:
        for handler in self.service.handlers:
            yield self[handler]

    def __getitem__(self, handler: Handler[Any]) -> Parts:
        name = f"{self.service.name}-{self.stage}-{handler.name}"
        suffix = ".fifo" if handler.options.group is not None else ""
        queue_id, queue = self._named(QUEUE, "QueueName", name + suffix)
        letters_id, dead_letters = self._named(QUEUE, "QueueName", f"{name}-dlq{suffix}")
        function_id, function = self._named(FUNCTION, "FunctionName", name)
        (mapping,) = [
            resource["Properties"]
            for resource in self.synthesis.of_type(MAPPING).values()
            if resource["Properties"]["FunctionName"] == {"Ref": function_id}
        ]
        return Parts(
            handler=handler,
            queue_id=queue_id,
            queue=queue,
            dead_letters_id=letters_id,
            dead_letters=dead_letters,
            function_id=function_id,
            function=function,
            mapping=mapping,
        )

    @property
    def table(self) -> tuple[str, Resource]:
        """The ledger's logical id and whole resource."""
        ((name, resource),) = self.synthesis.of_type("AWS::DynamoDB::Table").items()
        return name, resource

    def _named(self, kind: str, attribute: str, name: str) -> tuple[str, Mapping[str, Any]]:
        ((id, resource),) = [
            (id, resource["Properties"])
            for id, resource in self.synthesis.of_type(kind).items()
            if resource["Properties"].get(attribute) == name
        ]
        return id, resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The properties of what one handler consists of."""

    handler: Handler[Any]
    queue_id: str
    queue: Mapping[str, Any]
    dead_letters_id: str
    dead_letters: Mapping[str, Any]
    function_id: str
    function: Mapping[str, Any]
    mapping: Mapping[str, Any]
