"""What an account has of a service: read, never written. What may not be read is unknown, not absent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from surehand_cli.account.place import Place
from surehand_cli.account.session import denies_all, explained
from surehand_cli.problem import Unreachable

#: AWS's words for "there is no such thing".
_ABSENT = frozenset({
    "NonExistentQueue", "QueueDoesNotExist", "ResourceNotFoundException", "ResourceNotFound",
})  # fmt: skip


class Absent:
    """It does not exist."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It could not be read. *why* is AWS's code or the client's exception."""

    why: str


#: One thing's description as AWS gives it.
Fact = Mapping[str, Any] | Absent | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts by kind and physical name. *now* is when they were gathered."""

    now: datetime
    queues: Mapping[str, Fact]
    functions: Mapping[str, Fact]
    mappings: Mapping[str, Fact]
    schedules: Mapping[str, Fact]
    ages: Mapping[str, float | None]
    table: Fact
    ttl: Fact
    alarms: Fact
    others: Mapping[str, Fact] = field(default_factory=dict)

    def each(self) -> Iterator[Fact]:
        """Yield every thing that was asked for."""
        for facts in (self.queues, self.functions, self.mappings, self.schedules, self.others):
            yield from facts.values()
        yield from (self.table, self.ttl, self.alarms)


def gather(place: Place, wanted: Mapping[str, Any]) -> Facts:
    """Gather the facts about everything that the inventory *wanted* names.

    Raises:
        Unreachable: There are no credentials that AWS takes, no Region, or no SQS. All else is a fact of its own.
    """
    account = place.account
    sqs, functions, table = account.client("sqs"), account.client("lambda"), account.client("dynamodb")
    names = [one[part]["name"] for one in wanted["handlers"] for part in ("queue", "dead_letters")]
    _reach(sqs, names[0])
    if wanted["tick_dead_letters"]:
        names.append(wanted["tick_dead_letters"])
    queues = {name: _fact(lambda name=name: _queue(sqs, name)) for name in names}  # type: ignore[misc]
    described = [one["function"]["name"] for one in wanted["handlers"]] + [wanted["sweep"]["function"]["name"]]
    name_of_table = wanted["ledger"]["table"]
    return Facts(
        now=place.waiting.now(),
        queues=queues,
        functions={
            name: _fact(lambda name=name: functions.get_function_configuration(FunctionName=name))  # type: ignore[misc]
            for name in described
        },
        mappings={name: _mappings(functions, queue) for name, queue in queues.items()},
        schedules=_schedules(place, wanted),
        ages={one["dead_letters"]["name"]: _age(place, one["dead_letters"]["name"]) for one in wanted["handlers"]},
        table=_fact(lambda: table.describe_table(TableName=name_of_table)["Table"]),
        ttl=_fact(lambda: table.describe_time_to_live(TableName=name_of_table)["TimeToLiveDescription"]),
        alarms=_alarms(place),
    )


def _reach(client: Any, name: str) -> None:
    """Ask for one queue, so that an endpoint that is not there is told once and not for every resource."""
    try:
        client.get_queue_url(QueueName=name)
    except BotoCoreError as error:
        raise Unreachable(explained(error)) from error
    except ClientError as error:
        if denies_all(error):
            raise Unreachable(explained(error)) from error


def _fact(read: Callable[[], Mapping[str, Any]]) -> Fact:
    try:
        return read()
    except ClientError as error:
        if denies_all(error):
            raise Unreachable(explained(error)) from error
        code = str(error.response.get("Error", {}).get("Code", "ClientError")).rpartition(".")[2]
        return Absent() if code in _ABSENT else Unknown(code)
    except (BotoCoreError, NotImplementedError, KeyError) as error:
        return Unknown(type(error).__name__)


def _queue(client: Any, name: str) -> Mapping[str, Any]:
    url = client.get_queue_url(QueueName=name)["QueueUrl"]
    attributes = dict(client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"])
    for policy in ("RedrivePolicy", "RedriveAllowPolicy"):
        attributes[policy] = json.loads(attributes.get(policy) or "{}")
    return attributes


def _mappings(client: Any, queue: Fact) -> Fact:
    if isinstance(queue, Absent | Unknown):
        return queue

    def read() -> Mapping[str, Any]:
        pages = client.get_paginator("list_event_source_mappings").paginate(EventSourceArn=queue["QueueArn"])
        return {"found": [one for page in pages for one in page["EventSourceMappings"]]}

    return _fact(read)


def _schedules(place: Place, wanted: Mapping[str, Any]) -> Mapping[str, Fact]:
    client = place.account.client("scheduler")
    names = [one["function"]["name"] for one in wanted["handlers"] if one["trigger"]["kind"] == "schedule"]
    group = wanted["schedule_group"]
    return {
        name: _fact(lambda name=name: client.get_schedule(GroupName=group, Name=name))  # type: ignore[misc]
        for name in names
    }


def _alarms(place: Place) -> Fact:
    client = place.account.client("cloudwatch")
    prefix = f"{place.service.name}-{place.stage}-"

    def read() -> Mapping[str, Any]:
        pages = client.get_paginator("describe_alarms").paginate(
            AlarmNamePrefix=prefix, AlarmTypes=["MetricAlarm", "CompositeAlarm"]
        )
        return {"found": [one for page in pages for kind in ("MetricAlarms", "CompositeAlarms") for one in page[kind]]}

    return _fact(read)


def _age(place: Place, name: str) -> float | None:
    """Return the age of a queue's oldest message in seconds as CloudWatch has it; None where it does not say."""
    now = place.waiting.now()
    fact = _fact(
        lambda: place.account.client("cloudwatch").get_metric_statistics(
            Namespace="AWS/SQS",
            MetricName="ApproximateAgeOfOldestMessage",
            Dimensions=[{"Name": "QueueName", "Value": name}],
            StartTime=now - timedelta(minutes=15),
            EndTime=now,
            Period=300,
            Statistics=["Maximum"],
        )
    )
    points = fact.get("Datapoints", ()) if isinstance(fact, Mapping) else ()
    return float(max(points, key=lambda point: point["Timestamp"])["Maximum"]) if points else None
