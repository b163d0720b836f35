"""The steps of one request through the ingress, in their order. `ingress.py` turns what they raise into answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from surehand.webhooks.claim import Claim, plan_body
from surehand.webhooks.envelope import Envelope, attributes
from surehand.webhooks.handshake import handshake_methods, signed_handshake, unsigned_handshake
from surehand.webhooks.identity import Identity, identify
from surehand.webhooks.keys import SecretUnusable
from surehand.webhooks.outcome import Failure, Kind, Outcome
from surehand.webhooks.place import Reading
from surehand.webhooks.ports import Message, Ports
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.response import HttpResponse, come_again, text
from surehand.webhooks.secrets import FRESH, REFRESH_AFTER, Loaded, Secrets, read_secrets
from surehand.webhooks.source import Source
from surehand.webhooks.verifier import Verified
from surehand.webhooks.verify import verify


class OwnFailure(Exception):
    """One of our own parts failed, its `__cause__` says how: the sender must come again."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(str(failure))


def allowed_methods(source: Source) -> frozenset[str]:
    """Return the methods that a source answers with anything but 405."""
    scheme = source.scheme
    return frozenset(scheme.methods) | handshake_methods(scheme) | (frozenset({"HEAD"}) if scheme.head else frozenset())


@dataclass(slots=True)
class Visit:
    """One request on its way through the steps. *outcome* grows with what is known."""

    request: HttpRequest
    source: Source
    tenant: str | None
    ports: Ports
    now: datetime
    outcome: Outcome
    _loaded: Loaded | None = field(default=None, repr=False)

    def run(self) -> HttpResponse:
        """Take every step in order and return the answer."""
        early = self._before_secrets()
        if early is not None:
            return early
        reading = Reading(self.request)
        try:
            handshake = unsigned_handshake(self.source.scheme, reading, self._secrets)
        except SecretUnusable as error:
            raise OwnFailure(Failure.CONFIGURATION) from error
        if handshake is not None:
            return self._done(Kind.HANDSHAKE, handshake)
        if self.request.method not in self.source.scheme.methods:
            raise Rejected(Reason.WRONG_METHOD, f"{self.source.scheme.name} sends events in another way")
        verified, secrets = self._verified()
        self.source.check_tenant(self.tenant, reading)
        handshake = signed_handshake(self.source.scheme, reading, secrets.keys[verified.key_index])
        if handshake is not None:
            return self._done(Kind.HANDSHAKE, handshake)
        identity = identify(self.source.scheme, reading, source=self.source.name, tenant=self.tenant)
        self._note(verified, identity)
        success = self._success()
        if self.source.drops(identity.type):
            return self._done(Kind.DROPPED, success)
        self._store(self._envelope(verified, identity))
        return self._done(Kind.STORED, success)

    def _before_secrets(self) -> HttpResponse | None:
        """What is answered without looking at the request's proof: state, method, size, content type."""
        request, scheme = self.request, self.source.scheme
        if self.source.state == "gone":
            raise Rejected(Reason.GONE, "the source is declared gone")
        if request.method == "HEAD" and scheme.head:
            return self._done(Kind.PROBE, HttpResponse(200))
        if request.method not in allowed_methods(self.source):
            raise Rejected(Reason.WRONG_METHOD, "the scheme does not take this method")
        if len(request.body) > self.source.largest:
            raise Rejected(Reason.TOO_LARGE, "the body is larger than the source's cap")
        if (
            scheme.content_types
            and request.method in scheme.methods
            and request.content_type not in scheme.content_types
        ):
            raise Rejected(Reason.WRONG_CONTENT_TYPE, "the scheme pins other content types")
        if self.source.state == "paused":
            return self._done(Kind.PAUSED, come_again(self.source.scheme.retry_status, self.source.scheme.retry_after))
        return None

    def _secrets(self) -> Secrets:
        self._loaded = self._loaded or self._load(FRESH)
        try:
            return read_secrets(self._loaded.versions, self.source.scheme.key_format)
        except SecretUnusable as error:
            raise OwnFailure(Failure.CONFIGURATION) from error

    def _load(self, max_age: timedelta) -> Loaded:
        with _failing(Failure.SECRETS):
            return self.ports.secrets.load(self.source.secret_of(self.tenant), max_age=max_age)

    def _verified(self) -> tuple[Verified, Secrets]:
        """Verify, and once more if no key matched and the secret has changed meanwhile."""
        secrets = self._secrets()
        try:
            return self._verify(secrets), secrets
        except Rejected as rejected:
            if rejected.reason is not Reason.BAD_SIGNATURE:
                raise
            before, self._loaded = self._loaded, self._load(REFRESH_AFTER)
            if self._loaded.outdated:
                # The secret may have changed and we cannot see it: this is our failure, not the sender's.
                raise OwnFailure(Failure.SECRETS) from rejected
            if before is None or self._loaded.fetched_at == before.fetched_at:
                raise
            self.outcome = replace(self.outcome, refreshed=True)
            secrets = self._secrets()
            return self._verify(secrets), secrets

    def _verify(self, secrets: Secrets) -> Verified:
        url = self.source.public_url(self.tenant)
        return verify(self.source.scheme, self.request, secrets.keys, now=self.now, url=url)

    def _note(self, verified: Verified, identity: Identity) -> None:
        self.outcome = replace(
            self.outcome,
            key_id=verified.key_id,
            previous_key=verified.key_index > 0,
            signed_age=None if verified.signed_at is None else self.now - verified.signed_at,
            event_age=None if identity.occurred_at is None else self.now - identity.occurred_at,
            event_id=identity.id,
            event_type=identity.type,
            idempotency_key=identity.key,
        )

    def _envelope(self, verified: Verified, identity: Identity) -> Envelope:
        request, scheme = self.request, self.source.scheme
        return Envelope(
            source=self.source.name,
            tenant=self.tenant,
            received_at=self.now,
            request_id=request.request_id,
            identity=identity,
            attempt=_attempt(scheme.attempt, request),
            scheme=scheme.name,
            key_id=verified.key_id,
            signed_at=verified.signed_at,
            method=request.method,
            path=request.path,
            content_type=request.header("content-type") or "",
            headers={name: request.headers[name] for name in scheme.headers if name in request.headers},
            drained=self.source.state == "drain",
            body=request.body,
        )

    def _store(self, envelope: Envelope) -> None:
        """Store a large body first and then send the message, so that no message points at nothing."""
        plan = plan_body(envelope, now=self.now)
        self.outcome = replace(self.outcome, encoding="s3" if isinstance(plan, Claim) else plan.encoding)
        if isinstance(plan, Claim):
            with _failing(Failure.STORE):
                where = self.ports.store.put(
                    plan.key, envelope.body, content_type=_media_type(self.request), sha256=envelope.sha256
                )
            body = plan.message(where)
        else:
            body = plan.text
        message = Message(queue=self.source.queue, body=body, attributes=attributes(envelope), group=self.tenant)
        with _failing(Failure.QUEUE):
            self.ports.queue.send(message)

    def _success(self) -> HttpResponse:
        success = self.source.scheme.success
        if not success.body:
            return HttpResponse(success.status)
        return text(success.status, success.body, success.content_type)

    def _done(self, kind: Kind, response: HttpResponse) -> HttpResponse:
        self.outcome = replace(self.outcome, kind=kind)
        return response


@contextmanager
def _failing(failure: Failure) -> Iterator[None]:
    """Name which of our parts failed, whatever it raised."""
    try:
        yield
    except Exception as error:
        raise OwnFailure(failure) from error


def _attempt(place: str, request: HttpRequest) -> int | None:
    """Return the sender's own count of retries, if it is one."""
    text = request.header(place.removeprefix("header:")) or "" if place else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else None


def _media_type(request: HttpRequest) -> str:
    """Return a media type that S3 takes as a header, whatever the sender called it."""
    plain = re.fullmatch(r"[a-z0-9.+-]{1,64}/[a-z0-9.+-]{1,64}", request.content_type)
    return plain[0] if plain is not None else "application/octet-stream"
