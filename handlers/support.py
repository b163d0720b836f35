"""Mentions of the shop's app in Slack: each opens one ticket."""

import os
from typing import Literal

from pydantic import BaseModel

from handlers.provider import Busy, Provider
from surehand import Job, Retry, webhook


class Mention(BaseModel):
    """Somebody has written to the app. *ts* is Slack's name of the message within its channel."""

    type: Literal["app_mention"]
    channel: str
    ts: str
    text: str


class Event(BaseModel):
    """What Slack sends. Its challenge, when the address is entered, is answered by the ingress and never comes here."""

    event_id: str
    event: Mention


@webhook("slack", scheme="slack")
def open_ticket(told: Event, job: Job) -> None:
    """Open a ticket. Slack waits three seconds for its answer, which it has had by then."""
    ticket = {"reference": told.event_id, "channel": told.event.channel, "text": told.event.text}
    try:
        Provider(os.environ["TICKETS_URL"]).post("/tickets", ticket, idempotency_key=job.key("ticket"))
    except Busy as error:
        raise Retry("provider.busy", after=error.retry_after) from error
