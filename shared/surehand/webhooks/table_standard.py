"""Rows of the scheme table: Standard Webhooks and Svix. See `table.py` for what the grades mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from surehand.webhooks.scheme import Scheme

STANDARD = Scheme(
    name="standard-webhooks",
    signature="header:webhook-signature",
    signed="{id}.{timestamp}.{body}",
    encoding="base64",
    separator=" ",
    label="v1",
    pair=",",
    key_format="whsec",
    timestamp="header:webhook-timestamp",
    id="header:webhook-id",
    type="body:type",
    occurred_at="body:timestamp",
    deadline=timedelta(seconds=15),
    retry_window=timedelta(hours=76),
    source="standard-webhooks spec/standard-webhooks.md, libraries/ [docs, library]: 5 min both ways in the libraries; "
    "a retry has a new time and the same id",
)

#: The asymmetric form of the same header, which may stand beside v1. Needs `surehand[crypto]`.
STANDARD_V1A = replace(
    STANDARD,
    name="standard-webhooks-v1a",
    label="v1a",
    algorithm="ed25519",
    key_format="whpk",
    source="standard-webhooks spec/standard-webhooks.md [docs]; the example header of the spec does not verify for its "
    "own message",
)

#: The same signature under Svix's own header names, or the standard ones.
SVIX = replace(
    STANDARD,
    name="svix",
    signature=("header:svix-signature", "header:webhook-signature"),
    timestamp=("header:svix-timestamp", "header:webhook-timestamp"),
    id=("header:svix-id", "header:webhook-id"),
    type=("body:type", "body:event_type"),
    retry_window=timedelta(hours=28),
    source="svix-webhooks [library]; docs.svix.com receiving, retries [docs]: 8 attempts in about 28 h",
)

ROWS = (STANDARD, STANDARD_V1A, SVIX)
