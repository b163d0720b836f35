"""Why a captured request is refused: for `surehand webhook check`.

Tries what usually goes wrong (a newline more, a body that was parsed and written again, a key read in the wrong
format, another URL) and says which of them would have been accepted. Never shows a secret or an expected signature.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import get_args

from surehand.webhooks.clock import read_time
from surehand.webhooks.keys import PUBLIC_FORMATS, Key, KeyFormat, SecretUnusable, read_key
from surehand.webhooks.place import Reading, alternatives
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.verify import first_text, read_signature, verify


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Whether a request is accepted, and if not, why and what would help.

    *fingerprints* are those of the keys tried, to be compared with the sender's.
    """

    accepted: bool
    reason: Reason | None = None
    detail: str = ""
    hints: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()


def explain(
    scheme: Scheme, request: HttpRequest, secrets: Sequence[str], *, now: datetime, url: str | None = None
) -> Explanation:
    """Verify a captured request and explain the result. *secrets* are stored texts, *now* the time of its arrival.

    Raises:
        SecretUnusable: A secret is not of the scheme's format.
        DeclarationError: The scheme signs the URL and none is given.
    """
    keys = [read_key(text, scheme.key_format, label=f"secret {index}") for index, text in enumerate(secrets, start=1)]
    fingerprints = tuple(key.fingerprint for key in keys)
    try:
        verified = verify(scheme, request, keys, now=now, url=url)
    except Rejected as rejected:
        hints = tuple(_hints(rejected.reason, Case(scheme, request, tuple(secrets), tuple(keys), now, url)))
        return Explanation(
            accepted=False,
            reason=rejected.reason,
            detail=rejected.detail,
            hints=hints or ("nothing that usually goes wrong explains it: compare the key's fingerprint",),
            fingerprints=fingerprints,
        )
    return Explanation(accepted=True, detail=f"made with {verified.key_id}", fingerprints=fingerprints)


@dataclass(frozen=True, slots=True)
class Case:
    """A refused request and everything that it was judged by."""

    scheme: Scheme
    request: HttpRequest
    secrets: tuple[str, ...]
    keys: tuple[Key, ...]
    now: datetime
    url: str | None

    def holds(self) -> bool:
        """Whether the case is accepted, whatever its age."""
        scheme = replace(self.scheme, tolerance=None) if self.scheme.verifier is None else self.scheme
        try:
            verify(scheme, self.request, self.keys, now=self.now, url=self.url)
        except Rejected:
            return False
        return True


def _hints(reason: Reason, case: Case) -> Iterator[str]:
    if reason in (Reason.STALE, Reason.FROM_THE_FUTURE):
        yield from _age(case)
    elif reason is Reason.MISSING_SIGNATURE:
        yield from _other_schemes(case)
    elif reason is Reason.BAD_SIGNATURE:
        for hint, changed in (*_bodies(case), *_keys(case), *_urls(case)):
            if changed.holds():
                yield hint


def _age(case: Case) -> Iterator[str]:
    labels = read_signature(case.scheme, case.request).labels
    moment = read_time(first_text(case.scheme.timestamp, Reading(case.request, labels)), case.scheme.unit)
    if moment is not None:
        side = "before" if moment < case.now else "after"
        yield f"the signature is right, but was made {abs(case.now - moment)} {side} the given time"
        yield f"the scheme allows {case.scheme.tolerance}; a sender that keeps the first time in its retries needs more"


def _other_schemes(case: Case) -> Iterator[str]:
    for scheme in SCHEMES.values():
        names = [place.path for places in alternatives(scheme.signature) for place in places if place.kind == "header"]
        present = [name for name in names if name in case.request.headers and name != "authorization"]
        if present and scheme.name != case.scheme.name:
            yield f"the request carries {present[0]}, which scheme '{scheme.name}' uses"


def _bodies(case: Case) -> Iterator[tuple[str, Case]]:
    body = case.request.body
    variants: list[tuple[str, bytes]] = [
        ("the sender signed the body without the line end that it has here", body.rstrip(b"\r\n")),
        ("the sender signed a body that ends in a newline", body + b"\n"),
        ("the line ends were changed from CRLF to LF", body.replace(b"\n", b"\r\n")),
        ("the line ends were changed from LF to CRLF", body.replace(b"\r\n", b"\n")),
    ]
    with suppress(ValueError):
        variants.append(("the body is still base64", base64.b64decode(body, validate=True)))
    with suppress(ValueError, RecursionError):
        value = json.loads(body)
        for separators in ((",", ":"), (", ", ": ")):
            for ascii_only in (True, False):
                text = json.dumps(value, separators=separators, ensure_ascii=ascii_only)
                variants.append(("the body was parsed and written again", text.encode("utf-8")))
    for hint, changed in variants:
        if changed != body:
            yield hint, replace(case, request=replace(case.request, body=changed))


def _keys(case: Case) -> Iterator[tuple[str, Case]]:
    for key_format in get_args(KeyFormat):
        if key_format in PUBLIC_FORMATS or key_format == case.scheme.key_format or case.scheme.needs_crypto:
            continue
        try:
            keys = tuple(read_key(text, key_format) for text in case.secrets)
        except SecretUnusable:
            continue
        yield f"the key is meant as {key_format}, not as {case.scheme.key_format}", replace(case, keys=keys)


def _urls(case: Case) -> Iterator[tuple[str, Case]]:
    if case.url is None or not case.scheme.needs_url:
        return
    swapped = case.url.replace("https://", "http://") if case.url.startswith("https") else case.url
    yield "the sender signed http:// instead of https://", replace(case, url=swapped)
    yield "the sender signed the URL with a slash at its end", replace(case, url=f"{case.url}/")
    yield "the sender signed the URL without the slash at its end", replace(case, url=case.url.rstrip("/"))
    without = replace(case, request=replace(case.request, raw_query=""))
    yield "the sender signed the URL without the query string", without
