"""`surehand webhook check`: why a captured request is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from surehand.errors import DeclarationError
from surehand.webhooks.explain import Explanation, explain
from surehand.webhooks.identity import identify
from surehand.webhooks.keys import SecretUnusable
from surehand.webhooks.place import Reading
from surehand.webhooks.rejection import Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.source import Source, route
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.problem import Problem
from surehand_cli.terminal.output import Output
from surehand_cli.webhook.captured import captured
from surehand_cli.webhook.secret import SecretFrom, secrets_of, source_named

Name = Annotated[str, typer.Argument(metavar="SOURCE", help="The webhook's name.")]
Request = Annotated[
    Path,
    typer.Option("--request", help="A Lambda event as JSON, or an HTTP request as text.", exists=True, dir_okay=False),
]
At = Annotated[
    datetime | None,
    typer.Option("--at", help="When it arrived, in UTC; by default what the event says, or now."),
]


@located
def check(
    place: Place, output: Output, name: Name, *, request: Request, at: At = None, secret_from: SecretFrom = None
) -> None:
    """Explain why a captured request is refused: tries what usually goes wrong, and says what would have helped.

    Example: [bold]surehand webhook check stripe --request event.json --stage prod[/bold]

    Shows neither the secret nor an expected signature; compare the key's fingerprint with
    `printf %s "$SECRET" | sha256sum`. Exit status 0 if the request is accepted, 1 if it is refused.
    """
    source = source_named(place, name)
    found = captured(request)
    try:
        _, tenant = route(found.request.path, {name: source})
        now = at.replace(tzinfo=UTC) if at is not None else found.at or datetime.now(UTC)
        secrets = secrets_of(place, source, secret_from, tenant)
        explanation = explain(source.scheme, found.request, secrets, now=now, url=source.public_url(tenant))
        if explanation.accepted:
            source.check_tenant(tenant, Reading(found.request))
    except Rejected as rejected:
        tenant, explanation = None, Explanation(accepted=False, reason=rejected.reason, detail=rejected.detail)
    except (SecretUnusable, DeclarationError) as error:
        raise Problem(str(error)) from None
    _tell(output, source, found.request, explanation, tenant)
    raise typer.Exit(0 if explanation.accepted else 1)


def _tell(output: Output, source: Source, request: HttpRequest, explanation: Explanation, tenant: str | None) -> None:
    key = None
    if explanation.accepted:
        key = identify(source.scheme, Reading(request), source=source.name, tenant=tenant).key
    output.line(
        {
            "source": source.name,
            "scheme": source.scheme.name,
            "accepted": explanation.accepted,
            "reason": explanation.reason,
            "detail": explanation.detail,
            "hints": list(explanation.hints),
            "fingerprints": list(explanation.fingerprints),
            "idempotency_key": key,
        }
    )
    verdict = "accepted" if explanation.accepted else f"refused: {explanation.reason}"
    output.text(f"{verdict} ({explanation.detail})" if explanation.detail else verdict)
    for hint in explanation.hints:
        output.text(f"  {hint}")
    if key is not None:
        output.text(f"idempotency key: {key}")
    if explanation.fingerprints:
        output.text(f"keys tried: {', '.join(explanation.fingerprints)}")
