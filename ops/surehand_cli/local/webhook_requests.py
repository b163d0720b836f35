"""Samples that are posted to the deployed API as their sender would post them: signed, forged or stale."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from urllib.parse import urlsplit

from surehand import Handler
from surehand.webhooks.identity import identify
from surehand.webhooks.place import Reading
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.sign import sign
from surehand.webhooks.source import PREFIX, Source
from surehand_cli.local.deployed import STAGE, Deployed
from surehand_cli.local.samples import Sent

#: The first request meets a function that has not started yet.
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest:
    """A request to the path of *handler*, signed with *secret* as long ago as *age* says.

    *body* is sent as it is; *forged* changes a byte of it after it was signed. *door* says that the ingress ends it,
    so that no message follows.
    """

    handler: str
    body: bytes
    secret: str
    age: timedelta = timedelta(0)
    forged: bool = False
    door: bool = False

    def __call__(self, deployed: Deployed) -> Sent:
        """Post it."""
        source = source_of(deployed, deployed.service[self.handler])
        plain = HttpRequest(method="POST", path=PREFIX + self.handler, body=self.body)
        request = plain.with_headers({"content-type": "application/json"})
        signed = sign(source.scheme, request, self.secret, now=datetime.now(UTC) - self.age, url=source.url)
        if self.forged:
            signed = replace(signed, body=signed.body.replace(b"4900", b"9900"))
        status = post(deployed.webhook(deployed.service[self.handler]), signed)
        if self.door or status >= 300:
            return Sent(status=status)
        key = identify(source.scheme, Reading(signed), source=self.handler).key
        return Sent(operation=json.dumps([self.handler, None, [key]], separators=(",", ":")), status=status)


def source_of(deployed: Deployed, handler: Handler[object]) -> Source:
    """Return the source of a handler's webhooks, as it is deployed."""
    receiving = handler.options.webhook
    if receiving is None:
        raise TypeError(f"{handler!r} is no webhook")
    return receiving.source(handler.name, service=deployed.service.name, stage=STAGE)


def store_secret(deployed: Deployed, handler: str, secret: str) -> None:
    """Store a secret where the ingress looks for it: in a real account an operator does this once."""
    name = source_of(deployed, deployed.service[handler]).secret
    deployed.secrets.create_secret(Name=name, SecretString=secret)


def post(url: str, request: HttpRequest) -> int:
    """Post a request and return the status of its answer."""
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=PATIENCE_SECONDS)
    try:
        connection.request(request.method, address.path, body=request.body, headers=dict(request.headers))
        return connection.getresponse().status
    finally:
        connection.close()
