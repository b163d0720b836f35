"""`surehand webhook`: the verbs."""

from __future__ import annotations

import typer

from surehand_cli.webhook.check import check
from surehand_cli.webhook.sign import sign

app = typer.Typer(
    help="Sign webhooks as their senders do, and explain why one is refused.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def webhook() -> None:
    """Sign webhooks as their senders do, and explain why one is refused.

    The secret is read from Secrets Manager, as the ingress does, or from a file; it is never an argument, which the
    shell's history would keep, and never printed.
    """


app.command("sign")(sign)
app.command("check")(check)
