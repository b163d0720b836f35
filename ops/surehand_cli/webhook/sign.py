"""`surehand webhook sign`: a request as its sender would sign it, as a curl command."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from surehand.errors import DeclarationError
from surehand.webhooks.keys import SecretUnusable
from surehand.webhooks.rejection import Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.sign import curl
from surehand.webhooks.sign import sign as signed
from surehand.webhooks.source import PREFIX, Source, route
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.problem import Problem
from surehand_cli.terminal.output import Output
from surehand_cli.webhook.secret import SecretFrom, Tenant, secrets_of, source_named

Name = Annotated[str, typer.Argument(metavar="SOURCE", help="The webhook's name.")]
Body = Annotated[Path, typer.Option("--body", help="The file that is sent, as it is.", exists=True, dir_okay=False)]
Url = Annotated[
    str | None,
    typer.Option("--url", help="Where the request goes, without the tenant; by default the declared public URL."),
]
Type = Annotated[str, typer.Option("--content-type", help="The body's media type.")]
Headers = Annotated[
    list[str] | None, typer.Option("--header", help="A further header, 'Name: value'; may be given several times.")
]
EventId = Annotated[str | None, typer.Option("--event-id", help="The id, where the sender puts one into a header.")]


@located
def sign(
    place: Place,
    output: Output,
    name: Name,
    *,
    body: Body,
    url: Url = None,
    content_type: Type = "application/json",
    header: Headers = None,
    event_id: EventId = None,
    tenant: Tenant = None,
    secret_from: SecretFrom = None,
) -> None:
    """Print a curl command with a body signed as the sender signs it. It holds the signature, and not the secret.

    Example: [bold]surehand webhook sign stripe --body paid.json --url http://127.0.0.1:4566/hooks/stripe[/bold]

    A scheme with a public key is signed with the private one, given by --secret-from. Where the sender signs the time,
    the command is good for the scheme's tolerance.
    """
    source = source_named(place, name)
    path = _path(source, tenant)
    target = _target(url, tenant) if url is not None else source.public_url(tenant)
    if target is None:
        raise Problem(f"webhook '{name}' declares no url: say with --url where the request goes")
    headers = {"content-type": content_type, **_headers(header or [])}
    plain = HttpRequest(method="POST", path=path, body=body.read_bytes()).with_headers(headers)
    (secret, *_) = secrets_of(place, source, secret_from, tenant)
    try:
        request = signed(
            source.scheme, plain, secret, now=datetime.now(UTC), event_id=event_id, url=source.public_url(tenant)
        )
    except (DeclarationError, SecretUnusable) as error:
        raise Problem(str(error)) from None
    # Some senders write time or token into the body, so what is sent is no longer what the file holds.
    command = curl(request, target, body_file=str(body) if request.body == plain.body else None)
    output.line({"source": name, "url": target, "headers": dict(request.headers), "curl": command})
    output.text(command)


def _path(source: Source, tenant: str | None) -> str:
    """Return the path of the ingress, once it is one that the ingress takes."""
    path = PREFIX + source.name + (f"/{tenant}" if tenant is not None else "")
    try:
        route(path, {source.name: source})
    except Rejected:
        if source.tenants is None:
            said = "its path names no tenant; leave --tenant out"
        elif source.tenants == "any":
            said = (
                "its path names the tenant, 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'; say which with --tenant"
            )
        else:
            said = f"its path names one of {', '.join(sorted(source.tenants)[:10])}; say which with --tenant"
        raise Problem(f"webhook '{source.name}': {said}") from None
    return path


def _target(url: str, tenant: str | None) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise Problem(f"--url {url!r}: write http://… or https://…, with a host and without query string and fragment")
    return url if tenant is None or parts.path.endswith(f"/{tenant}") else f"{url.rstrip('/')}/{tenant}"


def _headers(given: list[str]) -> dict[str, str]:
    headers = {}
    for text in given:
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise Problem(f"--header {text!r}: write 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers
