"""Rows of the scheme table: chat, mail, telephony and meetings. See `table.py` for what the grades mean."""

from __future__ import annotations

from datetime import timedelta

from surehand.webhooks.scheme import Answer, Scheme
from surehand.webhooks.twilio import TwilioVerifier

#: Events, slash commands and interactivity; the two latter have no event id but a trigger id of their own.
SLACK = Scheme(
    name="slack",
    signature="header:x-slack-signature",
    signed="v0:{timestamp}:{body}",
    prefix="v0=",
    timestamp="header:x-slack-request-timestamp",
    id=("body:event_id", "form:trigger_id"),
    type=("body:event.type", "body:type", "form:command"),
    occurred_at="body:event_time",
    attempt="header:x-slack-retry-num",
    headers=("x-slack-retry-num", "x-slack-retry-reason"),
    handshakes=("slack",),
    deadline=timedelta(seconds=3),
    retry_window=timedelta(minutes=7),
    source="slack_sdk 3.48.0 signature [library]; docs.slack.dev 'Verifying requests from Slack', Events API [docs]",
)

#: A call sends many requests with one CallSid, so only a sequence number makes it an id.
TWILIO = Scheme(
    name="twilio",
    verifier=TwilioVerifier(),
    body_signed="partial",
    id=(
        "form:MessageSid+form:MessageStatus",
        "form:MessageSid+form:SmsStatus",
        "form:CallSid+form:CallStatus+form:SequenceNumber",
    ),
    type=("form:MessageStatus", "form:SmsStatus", "form:CallStatus"),
    success=Answer(200, "<Response/>", "text/xml"),
    deadline=timedelta(seconds=15),
    source="twilio-python 9.13.0 request_validator.py [library]; twilio.com webhooks security [docs]; "
    "twilio.com/docs/errors/11205 [docs]: 15 s with the connection; Twilio does not retry unless the URL says so",
)

#: A batch of mail events, each with an id.
SENDGRID = Scheme(
    name="sendgrid",
    signature="header:x-twilio-email-event-webhook-signature",
    signed="{timestamp}{body}",
    algorithm="ecdsa-p256",
    encoding="base64",
    key_format="spki",
    timestamp="header:x-twilio-email-event-webhook-timestamp",
    tolerance=None,
    id="body:[].sg_event_id",
    type="body:[].event",
    occurred_at="body:[].timestamp",
    deadline=timedelta(seconds=10),
    source="sendgrid-python 6.12.5 eventwebhook [library]: no tolerance, and whether a retry is signed anew is not "
    "documented; deadline is ours",
)

#: Webhook events and the pings of both kinds of endpoint. Discord sends bad signatures on purpose and needs the 401.
DISCORD = Scheme(
    name="discord",
    signature="header:x-signature-ed25519",
    signed="{timestamp}{body}",
    algorithm="ed25519",
    key_format="ed25519-hex",
    timestamp="header:x-signature-timestamp",
    type="body:event.type",
    occurred_at="body:event.timestamp",
    success=Answer(204),
    handshakes=("discord",),
    deadline=timedelta(seconds=3),
    retry_window=timedelta(minutes=10),
    source="docs.discord.com webhook events, interactions [docs]; the tolerance is ours, Discord states none",
)

#: WhatsApp, Messenger, Instagram: `X-Hub-Signature-256` over the body exactly as sent, escapes included.
META = Scheme(
    name="meta",
    signature="header:x-hub-signature-256",
    prefix="sha256=",
    type="body:object",
    handshakes=("meta",),
    deadline=timedelta(seconds=5),
    retry_window=timedelta(days=7),
    source="developers.facebook.com webhooks getting started [docs]; "
    "WhatsApp retries up to 7 days [docs]; deadline is ours",
)

#: No id of its own; the body carries `event_ts`, so its digest is one.
ZOOM = Scheme(
    name="zoom",
    signature="header:x-zm-signature",
    signed="v0:{timestamp}:{body}",
    prefix="v0=",
    timestamp="header:x-zm-request-timestamp",
    type="body:event",
    occurred_at="body:event_ts",
    handshakes=("zoom",),
    deadline=timedelta(seconds=3),
    retry_window=timedelta(minutes=85),
    source="developers.zoom.us webhooks, 'Resolving webhook delays' [docs]: 3 s, retries after 5, 20 and 60 min; "
    "tolerance of 5 min as in webhooks.fyi's sample [secondary]",
)

#: SHA-1 is what Intercom signs with; as an HMAC it is not known to be forgeable.
INTERCOM = Scheme(
    name="intercom",
    signature="header:x-hub-signature",
    prefix="sha1=",
    algorithm="hmac-sha1",
    id="body:id",
    type="body:topic",
    occurred_at="body:created_at",
    head=True,
    deadline=timedelta(seconds=5),
    source="developers.intercom.com webhooks [docs]; the HEAD request as quoted from its 'Set up webhooks', and 5 s "
    "for an answer in automatelab.tech's list [secondary]",
)

#: The key is the app secret; the same secret answers the CRC check.
X_TWITTER = Scheme(
    name="x-twitter",
    signature="header:x-twitter-webhooks-signature",
    prefix="sha256=",
    encoding="base64",
    handshakes=("x-twitter",),
    deadline=timedelta(seconds=3),
    source="X Account Activity API, CRC check [secondary]",
)

ROWS = (SLACK, TWILIO, SENDGRID, DISCORD, META, ZOOM, INTERCOM, X_TWITTER)
