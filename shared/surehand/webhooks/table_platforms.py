"""Rows of the scheme table: development, work and identity platforms. See `table.py` for what the grades mean."""

from __future__ import annotations

from datetime import timedelta

from surehand.webhooks.scheme import Answer, Scheme

#: Never retried by GitHub, so our own failures must be few. Event name and delivery id are headers nobody signs; bodies
#: of two events differ, so the name is left out of the guard, or a captured body would run under each invented one.
GITHUB = Scheme(
    name="github",
    signature="header:x-hub-signature-256",
    prefix="sha256=",
    id="header:x-github-delivery",
    id_signed=False,
    guard_type=False,
    type="header:x-github-event",
    headers=("x-github-event", "x-github-delivery", "x-github-hook-id", "x-github-hook-installation-target-type"),
    deadline=timedelta(seconds=10),
    source="docs.github.com 'Validating webhook deliveries', 'Best practices', 'Handling failed deliveries' [docs]: "
    "10 s, no automatic redelivery, by hand for 3 days, at most 25 MB",
)

#: A static token; nothing is signed.
GITLAB = Scheme(
    name="gitlab",
    signature="header:x-gitlab-token",
    algorithm="token",
    body_signed="none",
    id=("header:idempotency-key", "header:x-gitlab-event-uuid"),
    id_signed=False,
    unsigned_id="trust",
    type="header:x-gitlab-event",
    headers=("x-gitlab-event", "x-gitlab-event-uuid", "x-gitlab-instance"),
    deadline=timedelta(seconds=10),
    source="docs.gitlab.com webhooks [docs]; Idempotency-Key gitlab#388692 [secondary]",
)

#: Retries are byte-identical and keep the first time, so the tolerance outlasts them and the body's digest is the key.
LINEAR = Scheme(
    name="linear",
    signature="header:linear-signature",
    timestamp="body:webhookTimestamp",
    unit="ms",
    tolerance=timedelta(hours=24),
    type="body:type+body:action",
    occurred_at="body:createdAt",
    headers=("linear-delivery", "linear-event"),
    deadline=timedelta(seconds=5),
    retry_window=timedelta(hours=7, minutes=1),
    source="@linear/sdk webhooks [library]: 60 s there, which drops every retry (vercel/eve#1570); "
    "developers.linear.app/docs/graphql/webhooks [docs]: answer in 5 s, retries after 1 min, 1 h and 6 h",
)

#: Two headers, two keys: a rotation without a gap by design.
BOX = Scheme(
    name="box",
    signature=("header:box-signature-primary", "header:box-signature-secondary"),
    signed="{body}{timestamp}",
    encoding="base64",
    timestamp="header:box-delivery-timestamp",
    unit="iso",
    tolerance=timedelta(minutes=10),
    id="body:id",
    type="body:trigger",
    occurred_at="body:created_at",
    headers=("box-delivery-id",),
    deadline=timedelta(seconds=30),
    source="box-python-sdk object/webhook.py [library]: 10 min; "
    "the delivery id changes on retry [secondary]; deadline is ours",
)

#: The payload is a list of accounts that have news: it repeats, and every delivery counts.
DROPBOX = Scheme(
    name="dropbox",
    signature="header:x-dropbox-signature",
    without_id="delivery",
    handshakes=("dropbox",),
    deadline=timedelta(seconds=10),
    source="dropbox.com/developers/reference/webhooks [docs]; its 10 s for an answer as quoted in others' code "
    "[secondary]",
)

#: Method and URI are signed too. An event id alone is documented as not unique.
HUBSPOT_V3 = Scheme(
    name="hubspot-v3",
    signature="header:x-hubspot-signature-v3",
    signed="{method}{hubspot_url}{body}{timestamp}",
    encoding="base64",
    timestamp="header:x-hubspot-request-timestamp",
    unit="ms",
    id="body:[].subscriptionId+body:[].eventId+body:[].occurredAt",
    type="body:[].subscriptionType",
    occurred_at="body:[].occurredAt",
    deadline=timedelta(seconds=5),
    retry_window=timedelta(hours=24),
    source="developers.hubspot.com 'Validating requests' [docs]; hubspot-api-client 12.0.0 [library]; "
    "5 s for a batch and 10 retries in 24 h as quoted from the webhooks API's page [secondary]",
)

#: A static value of the Authorization header, taken whole. Okta retries once, and never after a 4xx.
OKTA = Scheme(
    name="okta",
    signature="header:authorization",
    algorithm="token",
    body_signed="none",
    id="body:eventId",
    id_signed=False,
    unsigned_id="trust",
    type="body:data.events[].eventType",
    occurred_at="body:eventTime",
    handshakes=("okta",),
    deadline=timedelta(seconds=3),
    source="okta-developer-docs event hooks [docs]: one retry, only after 5xx or a timeout",
)

#: `clientState` of every notification must be ours. A basic notification has no id and repeats legitimately.
GRAPH = Scheme(
    name="graph",
    signature="body:value[].clientState",
    algorithm="token",
    body_signed="none",
    id="body:value[].id",
    id_signed=False,
    unsigned_id="trust",
    without_id="delivery",
    type="body:value[].changeType",
    handshakes=("graph",),
    success=Answer(202),
    deadline=timedelta(seconds=3),
    retry_window=timedelta(hours=4),
    source="learn.microsoft.com change notifications [docs]: 202 once persisted, answer in 3 s, retries up to 4 h",
)

#: CloudEvents over HTTP: a bearer token or `?access_token=`; an event is source and id together.
CLOUDEVENTS = Scheme(
    name="cloudevents",
    signature=("header:authorization", "query:access_token"),
    algorithm="token",
    prefix="Bearer ",
    body_signed="none",
    id=("header:ce-source+header:ce-id", "body:source+body:id", "body:[].source+body:[].id"),
    id_signed=False,
    unsigned_id="trust",
    type=("header:ce-type", "body:type", "body:[].type"),
    occurred_at=("header:ce-time", "body:time"),
    headers=("ce-id", "ce-source", "ce-type", "ce-time", "ce-subject", "ce-specversion"),
    handshakes=("cloudevents",),
    deadline=timedelta(seconds=10),
    source="cloudevents/spec http-webhook.md [docs]; deadline is ours",
)

ROWS = (GITHUB, GITLAB, LINEAR, BOX, DROPBOX, HUBSPOT_V3, OKTA, GRAPH, CLOUDEVENTS)
