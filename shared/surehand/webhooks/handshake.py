"""Handshakes: how a sender makes sure that the endpoint is ours, answered without the worker.

An unsigned handshake echoes a stranger's text, so it is a hole for reflected content. Each echo here is limited to
the characters that the sender's tokens have, to 1,024 of them, and is answered as plain text with `nosniff`, or as a
JSON string that needs no escaping.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from surehand.webhooks.keys import Key, SecretUnusable
from surehand.webhooks.place import Number, Place, Reading
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.response import HttpResponse, text
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.secrets import Secrets

_ECHO = re.compile(r"[A-Za-z0-9._~+/=:%\- ]{1,1024}")
_ORIGIN = re.compile(r"[A-Za-z0-9.:*-]{1,253}")
_RATE = re.compile(r"[0-9]{1,9}")
#: What is signed with the webhook's own key must not be able to look like a body or a signed content.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,128}")

#: Returns the source's secrets; loads them only when a handshake needs them.
LoadSecrets = Callable[[], Secrets]


def unsigned_handshake(scheme: Scheme, reading: Reading, load: LoadSecrets) -> HttpResponse | None:
    """Answer a handshake that carries no signature, or return None if the request is none.

    Raises:
        Rejected: `malformed` if what is to be echoed is not what the sender sends, `bad_verify_token`.
        SecretUnusable: Meta's handshake needs a verify_token that the secret does not have.
    """
    for name in scheme.handshakes:
        handshake = _UNSIGNED.get(name)
        answer = handshake(reading, load) if handshake is not None else None
        if answer is not None:
            return answer
    return None


def signed_handshake(scheme: Scheme, reading: Reading, key: Key) -> HttpResponse | None:
    """Answer a handshake that was verified like an event, or return None if the request is none.

    Raises:
        Rejected: `malformed` if its challenge is not what the sender sends.
    """
    for name in scheme.handshakes:
        handshake = _SIGNED.get(name)
        answer = handshake(reading, key) if handshake is not None else None
        if answer is not None:
            return answer
    return None


def handshake_methods(scheme: Scheme) -> frozenset[str]:
    """Return the methods that the scheme's handshakes use beside those of its events."""
    return frozenset(_METHODS[name] for name in scheme.handshakes if name in _METHODS)


def _slack(reading: Reading, _: Key) -> HttpResponse | None:
    """https://docs.slack.dev/reference/events/url_verification: the challenge as plain text."""
    if reading.text(Place("body", "type")) != "url_verification":
        return None
    return text(200, _echo(reading.text(Place("body", "challenge"))))


def _discord(reading: Reading, _: Key) -> HttpResponse | None:
    """Webhook events ping with type 0 and want 204; interactions ping with type 1, which in events is a real event."""
    body = reading.json
    kind = body.get("type") if isinstance(body, dict) else None
    if not isinstance(kind, Number):
        return None
    if kind == "0":
        return HttpResponse(204)
    return _json({"type": 1}) if kind == "1" and "event" not in body else None


def _zoom(reading: Reading, key: Key) -> HttpResponse | None:
    """https://developers.zoom.us/docs/api/webhooks: the plain token and its HMAC, within 3 s."""
    if reading.text(Place("body", "event")) != "endpoint.url_validation":
        return None
    token = _echo(reading.text(Place("body", "payload.plainToken")), _TOKEN)
    encrypted = hmac.digest(key.material, token.encode("ascii"), "sha256").hex()
    return _json({"plainToken": token, "encryptedToken": encrypted})


def _meta(reading: Reading, load: LoadSecrets) -> HttpResponse | None:
    """https://developers.facebook.com/docs/graph-api/webhooks/getting-started: the challenge, if the token is ours."""
    if reading.request.method != "GET" or reading.text(Place("query", "hub.mode")) != "subscribe":
        return None
    expected = load().verify_token
    if expected is None:
        raise SecretUnusable('this handshake needs a "verify_token" in the secret')
    given = reading.text(Place("query", "hub.verify_token")) or ""
    if not _equal(given, expected):
        raise Rejected(Reason.BAD_VERIFY_TOKEN, "hub.verify_token is not ours")
    return text(200, _echo(reading.text(Place("query", "hub.challenge"))))


def _dropbox(reading: Reading, _: LoadSecrets) -> HttpResponse | None:
    if reading.request.method != "GET" or "challenge" not in reading.query:
        return None
    return text(200, _echo(reading.text(Place("query", "challenge"))))


def _okta(reading: Reading, _: LoadSecrets) -> HttpResponse | None:
    challenge = reading.request.header("x-okta-verification-challenge")
    if reading.request.method != "GET" or challenge is None:
        return None
    return _json({"verification": _echo(challenge)})


def _graph(reading: Reading, _: LoadSecrets) -> HttpResponse | None:
    """https://learn.microsoft.com/graph/change-notifications-delivery-webhooks: the decoded token, within 10 s."""
    if reading.request.method != "POST" or "validationToken" not in reading.query:
        return None
    return text(200, _echo(reading.text(Place("query", "validationToken"))))


def _cloudevents(reading: Reading, _: LoadSecrets) -> HttpResponse | None:
    """CloudEvents http-webhook.md, section 4. A callback address is never called: it is a stranger's."""
    request = reading.request
    origin = request.header("webhook-request-origin")
    if request.method != "OPTIONS" or origin is None:
        return None
    headers = {"webhook-allowed-origin": _echo(origin, _ORIGIN), "allow": "POST"}
    rate = request.header("webhook-request-rate")
    if rate is not None:
        headers["webhook-allowed-rate"] = _echo(rate, _RATE)
    return HttpResponse(200, "", MappingProxyType(headers))


def _x_twitter(reading: Reading, load: LoadSecrets) -> HttpResponse | None:
    """The CRC check. It signs a stranger's text with the key of the events, so that text must not look like a body."""
    if reading.request.method != "GET" or "crc_token" not in reading.query:
        return None
    token = _echo(reading.text(Place("query", "crc_token")), _TOKEN)
    mac = hmac.digest(load().keys[0].material, token.encode("ascii"), "sha256")
    return _json({"response_token": f"sha256={base64.b64encode(mac).decode('ascii')}"})


_SIGNED: Mapping[str, Callable[[Reading, Key], HttpResponse | None]] = MappingProxyType(
    {"slack": _slack, "discord": _discord, "zoom": _zoom}
)
_UNSIGNED: Mapping[str, Callable[[Reading, LoadSecrets], HttpResponse | None]] = MappingProxyType(
    {
        "meta": _meta,
        "dropbox": _dropbox,
        "okta": _okta,
        "graph": _graph,
        "cloudevents": _cloudevents,
        "x-twitter": _x_twitter,
    }
)
_METHODS = MappingProxyType(
    {"meta": "GET", "dropbox": "GET", "okta": "GET", "x-twitter": "GET", "graph": "POST", "cloudevents": "OPTIONS"}
)


def _echo(value: str | None, allowed: re.Pattern[str] = _ECHO) -> str:
    if value is None or not allowed.fullmatch(value):
        raise Rejected(Reason.MALFORMED, "the challenge is absent or has characters that this sender never sends")
    return value


def _equal(given: str, expected: str) -> bool:
    digests = [hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest() for value in (given, expected)]
    return hmac.compare_digest(*digests)


def _json(value: dict[str, str | int]) -> HttpResponse:
    return text(200, json.dumps(value, separators=(",", ":")), "application/json")
