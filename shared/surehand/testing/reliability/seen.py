"""What a simulated account shows at the end of a schedule, in words for the message of a broken promise."""

from __future__ import annotations

from surehand.ledger import Operation
from surehand.testing.account import Account


def raised_in(account: Account) -> list[str]:
    """Return what the handler raised that it had not chosen, each once: types, places and words of ours."""
    told = (
        f"{ending.origin}{f': {ending.notice.detail}' if ending.notice else ''}"
        for ending in account.told.endings
        if ending.origin is not None
    )
    return list(dict.fromkeys(told))


def fates_in(account: Account) -> str:
    """Return what the ledger says of each operation at the end."""
    items = account.ledger.items.values()
    return "\n".join(["the ledger at the end:", *(f"  {item.id}: {item.state}{_code(item)}" for item in items)])


def _code(item: Operation) -> str:
    return f" ({item.code})" if item.code else ""
