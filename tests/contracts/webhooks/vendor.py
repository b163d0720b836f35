"""A vendor's library as a second opinion: it signs, it judges, and whatever it raises counts as a refusal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from surehand.webhooks.keys import read_key
from surehand.webhooks.rejection import Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.verify import verify
from tests.contracts.webhooks.differences import DIFFERENCES

URL = "https://hooks.example.com/hooks/vendor"


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """One vendor. *sign* makes a signed request from a body and a moment; *judges* tells what the library says."""

    name: str
    secret: str
    sign: Callable[[bytes, datetime], HttpRequest]
    judges: Callable[[HttpRequest], bool]
    signature: str
    timestamp: str | None = None
    bodies: tuple[bytes, ...] = ()

    def accepts(self, request: HttpRequest) -> bool:
        try:
            return bool(self.judges(request))
        except Exception:  # noqa: BLE001 - five kinds of undeclared exceptions were measured
            return False

    def we_accept(self, request: HttpRequest, *, now: datetime) -> bool:
        scheme = SCHEMES[self.name]
        try:
            verify(scheme, request, [read_key(self.secret, scheme.key_format)], now=now, url=URL)
        except Rejected:
            return False
        return True

    def compare(self, request: HttpRequest, what: str, *, now: datetime) -> None:
        """Both must agree, or the difference must be a listed one."""
        theirs, ours = self.accepts(request), self.we_accept(request, now=now)
        if (self.name, what) in DIFFERENCES:
            assert theirs != ours, f"{self.name}: both {'accept' if ours else 'refuse'} '{what}' by now"
        else:
            assert theirs == ours, f"{self.name}, '{what}': they {theirs}, we {ours}"
