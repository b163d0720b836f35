"""Where a vendor's own library and this engine disagree, and why that is meant. `docs/webhooks.md` lists the same.

Each entry must be a real difference: the tests fail if the two agree.
"""

from __future__ import annotations

SPACES = (
    "white space around a header's value is no part of it (RFC 9110, 5.5), so we take it off; the library compares it"
)
FUTURE = "the library accepts any time ahead of the clock; we refuse what is further ahead than the tolerance"
LOOSE_TIME = (
    "the library reads the timestamp as a float; we take the digits that the specification names, and no others"
)

#: (vendor, mutation or age) → the reason.
DIFFERENCES: dict[tuple[str, str], str] = {
    ("standard-webhooks", "signature in spaces"): SPACES,
    ("stripe", "signature in spaces"): SPACES,
    ("slack", "signature in spaces"): SPACES,
    ("adyen-platform", "signature in spaces"): SPACES,
    ("paddle", "signature in spaces"): SPACES,
    ("hubspot-v3", "signature in spaces"): SPACES,
    ("stripe", "signed -320 s ago"): FUTURE,
    ("stripe", "signed -3600 s ago"): FUTURE,
    ("hubspot-v3", "signed -320 s ago"): FUTURE,
    ("hubspot-v3", "signed -3600 s ago"): FUTURE,
    ("standard-webhooks", "timestamp with a fraction"): LOOSE_TIME,
    ("standard-webhooks", "timestamp in spaces"): LOOSE_TIME,
    ("sendgrid", "signature twice, joined by a comma"): (
        "the library's base64 stops at the first padding; ours is strict, and SendGrid sends no doubled header"
    ),
    ("paddle", "signature twice, joined by a comma"): (
        "the library raises ValueError on a pair with two equal signs; we skip the pair and find the second signature"
    ),
}
