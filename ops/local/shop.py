"""The shop's local run: its provider, the messages that are sent, and what must become of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from local import invoices, webhooks
from local.book import Book
from local.provider_stub import ProviderStub, provider_stub
from surehand_cli.local.deployed import Deployed
from surehand_cli.local.queue_messages import QueueMessage
from surehand_cli.local.samples import Effects, Fate, Sample, Surroundings

EVENTS = Path(__file__).resolve().parents[2] / "events" / "sqs"


@dataclass(frozen=True, slots=True)
class Record:
    """What a sample takes from a record of a recorded event."""

    body: str
    group: str | None

    def value(self, field: str) -> str:
        """Return one field of the body."""
        return str(json.loads(self.body)[field])


@contextmanager
def shop() -> Iterator[Surroundings]:
    """Run the provider and give the shop's samples."""
    with provider_stub(page_seconds=invoices.PAGE_SECONDS) as stub:
        samples = [*dead_letters(), *invoices.ticks(), *orders(), *again(), *stock_moves(), *webhooks.requests()]
        addresses = ("PAYMENTS_URL", "WAREHOUSE_URL", "BILLING_URL", "ARCHIVE_URL", "ACCOUNTING_URL", "TICKETS_URL")
        yield Surroundings(
            environment=dict.fromkeys(addresses, stub.url),
            samples=samples,
            effects=lambda: effects(stub.book),
            expected_effects=sum(expected(sample) for sample in samples),
            hints=lambda deployed: hints(deployed, stub),
            prepare=webhooks.secrets,
        )


def expected(sample: Sample) -> int:
    """Return how many effects a sample must have: an export uploads each page, anything else has one or none."""
    if sample.fate is not Fate.SUCCEEDED:
        return 0
    return invoices.PAGES if sample.handler == invoices.HANDLER else 1


def dead_letters() -> Iterator[Sample]:
    """Messages that can never succeed. First, since their way is the longest."""
    not_json, other_shape = _records("malformed")[:2]
    yield _order("not JSON", not_json, Fate.DEAD_LETTERED, code="input.malformed")
    yield _order("JSON of another shape", other_shape, Fate.DEAD_LETTERED, code="input.schema")


def orders() -> Iterator[Sample]:
    """Ordinary orders, and those at which the provider has something to say."""
    for record in _records("standard"):
        yield _order(f"order {record.value('order_id')}", record, Fate.SUCCEEDED, attempts=1)
    declined, busy, late = _records("provider-answers")
    yield _order("card declined", declined, Fate.CANCELED, code="data.card_declined", attempts=1)
    yield _order("provider busy, twice", busy, Fate.SUCCEEDED, code="provider.busy", attempts=3)
    yield _order("charged, but the answer was lost", late, Fate.SUCCEEDED, code="provider.timeout", attempts=2)


def again() -> Iterator[Sample]:
    """Messages about an order that is done. They wait for that, or they would be told to come back."""
    first = _records("standard")[0]
    done = f"order {first.value('order_id')}"
    yield _order("the first order again", first, Fate.ALREADY_APPLIED, after=done)
    (other,) = _records("other-amount")
    yield _order("the first order, other amount", other, Fate.DEAD_LETTERED, code="input.conflict", after=done)


def _order(
    title: str,
    record: Record,
    fate: Fate,
    *,
    code: str | None = None,
    attempts: int | None = None,
    after: str | None = None,
) -> Sample:
    send = QueueMessage("orders", record.body)
    return Sample(title=title, handler="orders", send=send, fate=fate, code=code, attempts=attempts, after=after)


def stock_moves() -> Iterator[Sample]:
    """Movements of two articles, in order within each; one must be tried three times and holds up its article."""
    for record in _records("fifo-groups"):
        movement = record.value("movement_id")
        busy = "busy" in movement
        yield Sample(
            title=f"{record.group} {movement}",
            handler="stock-moves",
            send=QueueMessage("stock-moves", record.body, record.group),
            fate=Fate.SUCCEEDED,
            code="provider.busy" if busy else None,
            attempts=3 if busy else 1,
        )


def effects(book: Book) -> Effects:
    """Count what the provider has seen; movements of an article, and pages, must follow each other."""
    happened = book.effects()
    sent = [record.value("movement_id") for record in _records("fifo-groups")]
    out_of_order = 0
    for sku in {effect.stream for effect in happened if effect.kind == "movement"}:
        places = [
            sent.index(effect.reference) for effect in happened if effect.stream == sku and effect.reference in sent
        ]
        out_of_order += sum(1 for before, after in pairwise(places) if after < before)
    pages = [effect.reference for effect in happened if effect.kind == "upload"]
    out_of_order += sum(1 for before, after in pairwise(pages) if after < before)
    return Effects(total=len(happened), duplicated=book.duplicated(), out_of_order=out_of_order)


def hints(deployed: Deployed, stub: ProviderStub) -> Sequence[tuple[str, str]]:
    """Return commands to try by hand."""
    queue = deployed.queue(deployed.service["orders"])
    body = '{"order_id": "ord-9001", "amount": 500, "card": "tok_visa"}'
    send = f"curl -s {queue} -d Action=SendMessage --data-urlencode 'MessageBody={body}'"
    access = "AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=eu-west-1"
    scan = f"AWS_ENDPOINT_URL={deployed.endpoint} {access} aws dynamodb scan --table-name {deployed.ledger}"
    return [
        ("Send an order (again: already applied; with another amount: a conflict):", send),
        ("Sign an event as Stripe would, and post it (again: already applied):", webhooks.by_hand(deployed)),
        ("Take the provider down and send another order; mode/up ends it:", f"curl -s -X PUT {stub.url}/mode/down"),
        ("See what has been charged:", f"curl -s {stub.url}/charges"),
        ("Use any AWS tool on the emulator:", scan),
    ]


def _records(name: str) -> list[Record]:
    event = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return [Record(record["body"], record["attributes"].get("MessageGroupId")) for record in event["Records"]]
