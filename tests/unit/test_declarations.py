"""Impossible declarations fail at import and say which handler, which limit, what was given and what to do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from functools import partial
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import AfterValidator, BaseModel, field_validator
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from surehand import Backoff, DeclarationError, Job, Service, payload_hash, queue, schedule, webhook
from surehand.declare import NoKey, max_receive_count, physical_name, queue_variable, visibility_timeout
from surehand.errors import ConfigurationError, UnreadableEvent
from tests.unit import clashes


class Order(BaseModel):
    """An order."""

    order_id: str
    amount: int = 0


class Refund(BaseModel):
    """A refund, without an order's id."""

    refund_id: str


@dataclass
class Parcel:
    """A payload that is a dataclass."""

    order_id: str
    place: Order | None = None


class Row(TypedDict):
    """A payload that is a TypedDict."""

    order_id: str


def declare(**options: Any):
    def handle(order: Order, job: Job) -> None: ...

    return queue(options.pop("name", "orders"), **{"key": "order_id", **options})(handle)


async def ask_asynchronously(order: Order, job: Job) -> bool:
    return True


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "Orders"}, "lower-case"),
        ({"name": "a" * 41}, "40 characters"),
        ({"name": ""}, "lower-case"),
        ({"key": None}, "needs a key"),
        ({"key": "order"}, "Order has no attribute 'order'"),
        ({"key": ()}, "names no field"),
        ({"key": ["order_id", "amount.cents"]}, "no attribute 'amount.cents'"),
        ({"tenant": "customer"}, "no attribute 'customer'"),
        ({"key": {"order_id", "amount"}}, "their order counts"),
        ({"key": 5}, "must be a name"),
        ({"sends_to": "invoices"}, r"Handler 'orders': sends_to='invoices' is one text.*Write sends_to=\['invoices'\]"),
        ({"sends_to": ask_asynchronously}, "of type function, but it takes several"),
        ({"sends_to": [ask_asynchronously]}, "declared handlers or their names"),
        ({"timeout": timedelta(0)}, "timeout"),
        ({"timeout": timedelta(minutes=16)}, "timeout"),
        ({"timeout": timedelta(seconds=1.5)}, "whole number of seconds"),
        ({"timeout": 30}, "a timedelta"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"max_attempts": True}, "max_attempts"),
        ({"give_up_after": timedelta(days=4)}, "less than retention"),
        ({"retention": timedelta(days=14)}, "retention"),
        ({"batch_size": 11}, "batch_window"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 11, "group": "order_id"}, "FIFO"),
        ({"group": "order_id", "batch_window": timedelta(seconds=5)}, "0 on a FIFO queue"),
        ({"parallel": 11}, "at most batch_size"),
        ({"max_concurrency": 1}, "max_concurrency"),
        ({"memory": 64}, "memory"),
        ({"envelope": "kafka"}, "envelope"),
        ({"on_unknown": "ignore"}, "on_unknown"),
        ({"on_unknown": ask_asynchronously}, "a plain function"),
        ({"time_out": timedelta(seconds=3)}, "Did you mean 'timeout'"),
        ({"colour": "red"}, "Known options"),
    ],
)
def test_an_impossible_option_is_refused_by_name(options, said) -> None:
    with pytest.raises(DeclarationError, match=said) as refused:
        declare(**options)
    assert options.get("name", "orders") in str(refused.value) or "name" in options


@pytest.mark.parametrize("policy", [lambda: Backoff(first=timedelta(0)), lambda: Backoff(cap=timedelta(days=1))])
def test_an_impossible_backoff_is_refused(policy) -> None:
    with pytest.raises(DeclarationError, match="Backoff"):
        policy()


def test_a_key_must_exist_in_every_member_of_a_union() -> None:
    def handle(event: Order | Refund) -> None: ...

    with pytest.raises(DeclarationError, match="Refund has no attribute 'order_id'"):
        queue("events", key="order_id")(handle)


@pytest.mark.parametrize("annotation", [Order, Parcel, Row, dict, dict[str, int], Order | Parcel, Order | None])
def test_these_annotations_are_payloads(annotation) -> None:
    def handle(payload) -> None: ...

    handle.__annotations__["payload"] = annotation
    assert queue("events", key="order_id")(handle).payload.annotation == annotation


@pytest.mark.parametrize("annotation", [int, set, object, Any, bytes])
def test_these_annotations_are_not(annotation) -> None:
    def handle(payload) -> None: ...

    handle.__annotations__["payload"] = annotation
    with pytest.raises(DeclarationError, match="cannot be annotated"):
        queue("events", key=payload_hash())(handle)


def test_a_nested_key_is_followed_through_optional_models() -> None:
    def handle(parcel: Parcel) -> None: ...

    assert queue("parcels", key="place.order_id")(handle).name == "parcels"


class Colour(Enum):
    """An enum, which is given by its value."""

    RED = "red"


class Tagged(BaseModel):
    """Fields that can name work, might, or never do."""

    tags: list[str]
    weight: float
    groups: set[int] | None = None
    raw: bytes
    inner: Order | None = None
    parcels: dict[str, int] | list[str]
    colour: Colour
    anything: Any
    either: float | str
    maybe: UUID | None = None
    joined: Annotated[list[str], AfterValidator(",".join)]
    rewritten: list[str]

    @field_validator("rewritten")
    @classmethod
    def rewrite(cls, value: list[str]) -> str:
        return ",".join(value)


@pytest.mark.parametrize("field", ["tags", "weight", "groups", "raw", "inner", "parcels"])
@pytest.mark.parametrize("option", ["key", "tenant", "group"])
def test_a_field_no_value_of_which_can_name_work_is_refused(option, field) -> None:
    def handle(payload: Tagged) -> None: ...

    options = {"key": "colour", option: field}
    with pytest.raises(DeclarationError, match=f"Handler 'tagged': {option}='{field}', but '{field}' is .*rejected"):
        queue("tagged", **options)(handle)


@pytest.mark.parametrize("field", ["colour", "anything", "either", "maybe", "inner.order_id", "joined", "rewritten"])
def test_a_field_some_value_of_which_can_name_work_is_taken(field) -> None:
    def handle(payload: Tagged) -> None: ...

    assert queue("tagged", key=field)(handle).options.key == field


def test_a_field_of_a_dataclass_or_a_typeddict_is_looked_at_too() -> None:
    def handle(parcel: Parcel) -> None: ...

    with pytest.raises(DeclarationError, match=r"'place' is .*Order"):
        queue("parcels", key="place")(handle)


def test_a_function_without_annotation_is_refused_with_advice() -> None:
    def handle(order) -> None: ...

    with pytest.raises(DeclarationError, match="annotate the parameter 'order'"):
        queue("orders", key="order_id")(handle)


def test_a_name_that_only_the_type_checker_knows_is_refused_with_advice() -> None:
    def handle(order: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(DeclarationError, match="TYPE_CHECKING"):
        queue("orders", key="order_id")(handle)


def swapped(job: Job, order: Order) -> None: ...


def counting(order: Order, job: int) -> None: ...


def by_keyword(order: Order, *, job: Job) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (swapped, r"takes the Job first. The order is payload, job: def swapped\(order: …, job: Job\)"),
        (counting, "'job' of counting is given the Job, and is annotated as int. Write job: Job"),
        (by_keyword, r"'job' can be given by keyword only; remove the \* before it"),
        (Order, "is no function"),
        (partial(counting, job=1), "is no function"),
    ],
)
@pytest.mark.parametrize("declaration", [queue("orders", key="order_id"), webhook("hooks", scheme="github")])
def test_a_function_that_would_be_given_the_wrong_things_is_refused_with_its_cure(declaration, function, said) -> None:
    with pytest.raises(DeclarationError, match=f"Handler '(orders|hooks)': .*{said}"):
        declaration(function)


@pytest.mark.parametrize("annotation", [Job, Job | None, Any, object])
def test_these_annotations_take_a_job(annotation) -> None:
    def handle(order: Order, job) -> None: ...

    handle.__annotations__["job"] = annotation
    assert queue("orders", key="order_id")(handle).takes_job


@pytest.mark.parametrize(
    "declaration",
    [queue("more", key="order_id"), webhook("more", scheme="github"), schedule("more", timedelta(hours=1))],
)
def test_a_handler_is_not_declared_twice(declaration) -> None:
    with pytest.raises(DeclarationError, match=r"Handler 'more': .* is already the handler 'orders'"):
        declaration(declare())


@pytest.mark.parametrize("function", [lambda: None, lambda a, b, c: None, lambda *args: None])
def test_a_function_with_other_parameters_is_refused(function) -> None:
    with pytest.raises(DeclarationError, match="must take the payload"):
        queue("orders", key="order_id")(function)


def yielding(order: Order):
    yield order


async def yielding_asynchronously(order: Order):
    yield order


@pytest.mark.parametrize("function", [yielding, yielding_asynchronously])
def test_a_generator_is_refused_since_calling_it_runs_nothing(function) -> None:
    with pytest.raises(DeclarationError, match="has a yield"):
        queue("orders", key="order_id")(function)


def test_a_handler_inside_a_function_cannot_be_part_of_a_service() -> None:
    with pytest.raises(DeclarationError, match="top level"):
        Service("shop", (declare(),))


def test_two_handlers_with_one_name_are_refused() -> None:
    from handlers.orders import charge_order

    with pytest.raises(DeclarationError, match="same name"):
        Service("shop", (charge_order, charge_order))


@pytest.mark.parametrize(
    ("handlers", "said"),
    [
        ((clashes.d, clashes.d_dlq), "queue of handler 'd' and the queue of handler 'd-dlq' .*shop-STAGE-d-dlq"),
        ((clashes.d_dlq_parked, clashes.d), "handler 'd-dlq-parked' and the queue for parked letters of handler 'd'"),
        ((clashes.ticks, clashes.hourly), "handler 'ticks' and .* which schedule 'hourly' needs"),
        (
            (clashes.webhooks, clashes.hooks),
            "handler 'webhooks' .* has the name of the ingress, .*'hooks' is a webhook",
        ),
        ((clashes.webhook_alone,), "handler 'webhook' .* has the name of the ingress, whose alarms shop-STAGE-webhook"),
    ],
)
def test_two_names_that_lead_to_one_are_refused(handlers, said) -> None:
    with pytest.raises(DeclarationError, match=f"Service 'shop': .*{said}"):
        Service("shop", handlers)


@pytest.mark.parametrize("handlers", [(clashes.d, clashes.d_dlq_fifo), (clashes.ticks,), (clashes.webhooks,)])
def test_names_that_only_look_alike_are_taken(handlers) -> None:
    assert Service("shop", handlers).handlers == handlers


def test_a_handler_in_brackets_without_a_comma_is_no_list_of_handlers() -> None:
    from handlers.orders import charge_order

    with pytest.raises(DeclarationError, match=r"Service 'shop': .* write Service\('shop', \(charge_order,\)\)"):
        Service("shop", (charge_order))  # type: ignore[arg-type]


@pytest.mark.parametrize("handlers", [(), [], "orders", None])
def test_a_service_needs_a_list_of_handlers(handlers) -> None:
    with pytest.raises(DeclarationError, match="Service 'shop'"):
        Service("shop", handlers)


def test_sending_to_a_handler_outside_of_the_service_is_refused() -> None:
    from tests.unit import senders

    with pytest.raises(DeclarationError, match="sends to 'nowhere'"):
        Service("shop", (senders.forward,))


def test_a_service_knows_its_handlers_by_name() -> None:
    from handlers.service import SHOP

    assert SHOP["orders"].name == "orders"
    with pytest.raises(KeyError, match="orders"):
        SHOP["order"]


def test_a_name_beyond_lambda_s_64_characters_is_refused() -> None:
    with pytest.raises(DeclarationError, match="64"):
        physical_name("s" * 30, "production", "h" * 30)


def test_numbers_follow_from_the_declaration() -> None:
    standard = declare(timeout=timedelta(seconds=30), batch_window=timedelta(seconds=5))
    fifo = declare(name="fifo", group="order_id")
    assert visibility_timeout(standard) == timedelta(seconds=185)
    assert max_receive_count(standard) == 10
    assert max_receive_count(fifo) == 100
    assert queue_variable("stock-moves") == "SUREHAND_QUEUE_STOCK_MOVES"


def test_a_handler_keeps_its_function_s_name_and_text() -> None:
    from handlers.orders import charge_order

    assert charge_order.__name__ == "charge_order"
    assert charge_order.__doc__
    assert hash(charge_order)


def test_a_payload_hash_ignores_what_it_is_told_to() -> None:
    derive = payload_hash(exclude="amount")
    assert derive(Order(order_id="1", amount=1)) == derive(Order(order_id="1", amount=2))
    assert derive(Order(order_id="1")) != derive(Order(order_id="2"))


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "what the key function returned is None"),
        ("", "what the key function returned is empty"),
        (object(), "what the key function returned is of type object; text, int"),
        (("a", 1.5), "part 2 of what the key function returned is of type float"),
        ([], "the key function returned no parts"),
    ],
)
def test_a_key_function_that_names_nothing_is_told_what_it_returned(returned, said) -> None:
    handler = declare(key=lambda order: returned)
    with pytest.raises(NoKey, match=said):
        handler.identify(Order(order_id="1"), "{}")


def test_a_handler_that_is_called_as_a_function_is_told_how_to_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("SUREHAND_")]:
        monkeypatch.delenv(name)
    with pytest.raises(UnreadableEvent, match=r"call handler.run\(payload\)"):
        declare()({"order_id": "1"}, None)
    with pytest.raises(ConfigurationError, match="is not set"):
        declare()({"Records": []}, None)


@pytest.mark.parametrize("exclude", [5, None, [5], {"amount": 1}, b"amount"])
def test_a_payload_hash_leaves_out_names_only(exclude) -> None:
    with pytest.raises(DeclarationError, match=r"payload_hash\(\): exclude="):
        payload_hash(exclude=exclude)


@pytest.mark.parametrize(
    "declaration",
    [
        lambda given: queue("orders", key="order_id", sends_to=given),
        lambda given: webhook("orders", scheme="github", sends_to=given),
        lambda given: schedule("orders", timedelta(hours=1), sends_to=given),
    ],
    ids=["queue", "webhook", "schedule"],
)
def test_one_target_is_no_list_of_targets(declaration) -> None:
    with pytest.raises(DeclarationError, match="Handler 'orders': sends_to='invoices' is one text"):
        declaration("invoices")
    with pytest.raises(DeclarationError, match=r"Handler 'orders': sends_to=<Handler .*> is of type Handler"):
        declaration(declare())
