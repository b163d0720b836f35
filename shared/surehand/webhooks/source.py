"""One declared source of webhooks: which scheme at which path, with which secret, into which queue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from surehand.errors import DeclarationError
from surehand.webhooks.place import Reading, alternatives
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import LARGEST_BODY
from surehand.webhooks.scheme import Scheme

PREFIX = "/hooks/"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PATH = re.compile(r"/hooks/([a-z][a-z0-9-]{0,63})(?:/([A-Za-z0-9_-]{1,64}))?")

State = Literal["on", "paused", "drain", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where one sender's requests arrive and go.

    *secret* is the name of the stored secret; `{tenant}` in it is replaced by the tenant, one of a closed list.
    *queue* is the URL of the handler's queue, which only the ingress knows. *url* is the public URL of
    `/hooks/{name}`, for schemes that sign it; the tenant is appended. *tenants*: those that the path may name; None if
    it names none; `any` if any. Where they share one secret, *tenant_in* names the signed place that must agree with
    the path. *drop_types* are answered with success and not stored, and where *types* are named, all others too.
    *state*: `paused` answers 503, `drain` stores with a mark, `gone` answers 410, which makes several senders
    unsubscribe. *largest* is the cap of the body in bytes.

    Raises:
        DeclarationError: It contradicts itself or its scheme, or the scheme needs `surehand[crypto]` and it is absent.
    """

    name: str
    scheme: Scheme
    secret: str
    queue: str = ""
    url: str | None = None
    tenants: frozenset[str] | Literal["any"] | None = None
    tenant_in: str = ""
    types: frozenset[str] = frozenset()
    drop_types: frozenset[str] = frozenset()
    state: State = "on"
    largest: int = LARGEST_BODY

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem is not None:
            raise DeclarationError(f"webhook source '{self.name}': {problem}")
        if self.scheme.needs_crypto:
            # Paid here, at initialisation, and not within the deadline of the first request.
            from surehand.webhooks import asymmetric  # noqa: F401

    def _problem(self) -> str | None:
        if not _NAME.fullmatch(self.name):
            return "name: 1 to 64 characters of a-z, 0-9 and '-', beginning with a letter"
        if self.scheme.needs_url and not (self.url or "").startswith(("https://", "http://")):
            return f"url: scheme '{self.scheme.name}' signs the public URL of /hooks/{self.name}; configure it"
        if self.url is not None and ("?" in self.url or "#" in self.url):
            return "url: without query string and fragment"
        if not 0 < self.largest <= LARGEST_BODY:
            return f"largest: 1 to {LARGEST_BODY} bytes"
        if not self.secret:
            return "secret: is needed"
        return self._tenant_problem()

    def _tenant_problem(self) -> str | None:
        if isinstance(self.tenants, frozenset) and not all(_TENANT.fullmatch(tenant) for tenant in self.tenants):
            return "tenants: 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'"
        own_secrets = "{tenant}" in self.secret
        if own_secrets and self.tenants is None:
            return "secret: names {tenant}, but the path has none"
        if own_secrets and self.tenants == "any":
            return "secret: with tenants='any' a stranger would choose which secret is fetched"
        if self.tenants is not None and not own_secrets and not self.tenant_in:
            return "tenant_in: tenants share one secret, so name the signed place that must agree with the path"
        for place in (place for places in alternatives(self.tenant_in) for place in places):
            if place.kind not in ("body", "form") or self.scheme.body_signed == "none":
                return f"tenant_in: {place} is not signed"
        return None

    def drops(self, type_: str | None) -> bool:
        """Tell whether an event of this type is answered with success and not stored.

        One without a type is stored, unless *types* are named and the type stands where anybody could take it away.
        """
        if type_ is None:
            return bool(self.types) and not self.scheme.type_signed
        return type_ in self.drop_types or bool(self.types and type_ not in self.types)

    def secret_of(self, tenant: str | None) -> str:
        """Return the name of the secret that verifies this tenant's requests."""
        return self.secret.replace("{tenant}", tenant or "")

    def public_url(self, tenant: str | None) -> str | None:
        """Return the public URL that the sender called, without a query string."""
        return f"{self.url}/{tenant}" if self.url is not None and tenant is not None else self.url

    def check_tenant(self, tenant: str | None, reading: Reading) -> None:
        """Compare the signed tenant of a verified request with the path's.

        Raises:
            Rejected: `other_tenant`, or there is none.
        """
        for places in alternatives(self.tenant_in):
            if reading.text(places[0]) != tenant:
                raise Rejected(Reason.OTHER_TENANT, f"{places[0]} is not the tenant of the path")


def index(sources: Iterable[Source]) -> Mapping[str, Source]:
    """Return the sources by name.

    Raises:
        DeclarationError: Two have one name.
    """
    by_name: dict[str, Source] = {}
    for source in sources:
        if by_name.setdefault(source.name, source) is not source:
            raise DeclarationError(f"webhook source '{source.name}': declared twice")
    return by_name


def route(path: str, sources: Mapping[str, Source]) -> tuple[Source, str | None]:
    """Return the source of a path, and the tenant that it names.

    Raises:
        Rejected: `unknown_source`: no such source, no such tenant, or a tenant where there is none. Never `gone`.
    """
    match = _PATH.fullmatch(path)
    source = sources.get(match[1]) if match is not None else None
    if match is None or source is None:
        raise Rejected(Reason.UNKNOWN_SOURCE, "no source has this path")
    tenant: str | None = match[2]
    if source.tenants is None:
        known = tenant is None
    else:
        known = tenant is not None and (source.tenants == "any" or tenant in source.tenants)
    if not known:
        raise Rejected(Reason.UNKNOWN_SOURCE, "no tenant of this source has this path")
    return source, tenant


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long one call to SQS may take to connect and to be answered, with *attempts* in all."""

    connect: timedelta
    read: timedelta
    attempts: int = 2


def timeouts(sources: Iterable[Source]) -> Timeouts:
    """Return timeouts whose sum over both attempts is at most half of the shortest deadline.

    Never more than 0.5 s to connect and 1 s to be answered.
    """
    shortest = min((source.scheme.deadline for source in sources), default=timedelta(seconds=10))
    each = min(shortest / 4, timedelta(seconds=1.5))
    return Timeouts(connect=each / 3, read=each * 2 / 3)
