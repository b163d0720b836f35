"""`docs/webhooks.md` says what the code does: its tables are compared with rows, statuses and differences."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from surehand.webhooks.place import alternatives
from surehand.webhooks.rejection import STATUS
from surehand.webhooks.scheme import Places, Scheme
from surehand.webhooks.table import SCHEMES
from tests.contracts.webhooks.differences import DIFFERENCES

PAGE = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text("utf-8")


def table() -> Iterator[str]:
    """The scheme table, as it must stand in the page."""
    yield "| scheme | signature | signed | body | tolerance | id | deadline | success | handshake |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in sorted(SCHEMES.values(), key=lambda row: row.name):
        cells = (
            f"`{row.name}`",
            signature(row),
            signed(row),
            row.body_signed,
            length(row.tolerance),
            identity(row),
            length(row.deadline),
            str(row.success.status) + (f" `{row.success.body}`" if row.success.body else ""),
            ", ".join(row.handshakes) or "–",
        )
        yield f"| {' | '.join(cells)} |"


def signature(row: Scheme) -> str:
    if row.verifier is not None:
        return f"`{type(row.verifier).__name__}`"
    kind = "static token" if row.algorithm == "token" else f"{row.algorithm} {row.encoding}"
    return f"{', '.join(f'`{place}`' for place in flat(row.signature))}: {kind}"


def signed(row: Scheme) -> str:
    if row.algorithm == "token":
        return "nothing"
    return "see the verifier" if row.verifier is not None else f"`{row.signed}`"


def identity(row: Scheme) -> str:
    names = ", ".join(f"`{place.path}`" for places in alternatives(row.id)[:1] for place in places)
    if not names:
        return "each delivery" if row.without_id == "delivery" else "digest of the body"
    return names if row.id_signed else f"{names}, unsigned: {'guarded' if row.unsigned_id == 'guard' else 'trusted'}"


def length(value: timedelta | None) -> str:
    if value is None:
        return "–"
    seconds = int(value.total_seconds())
    unit, size = next((unit, size) for unit, size in (("h", 3600), ("min", 60), ("s", 1)) if seconds % size == 0)
    return f"{seconds // size} {unit}"


def flat(places: Places) -> tuple[str, ...]:
    return (places,) if isinstance(places, str) else places


def test_the_scheme_table_of_the_page_is_the_table_of_the_code():
    assert "\n".join(table()) in PAGE


def test_the_page_names_the_status_of_every_reason():
    missing = [reason for reason, status in STATUS.items() if f"| `{reason}` | {status} |" not in PAGE]

    assert not missing


def test_the_page_lists_every_difference_from_a_vendor_s_library():
    missing = [f"{vendor}: {what}" for vendor, what in DIFFERENCES if f"| {vendor} | {what} |" not in PAGE]

    assert not missing
