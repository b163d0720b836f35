"""The scheme table: how each known sender signs, and what it expects of its receiver.

Each row says where its facts come from, with a grade: [library] read in the vendor's own code, [docs] in the vendor's
documentation, [secondary] in somebody else's text or code, [memory] not checked. What is called "ours" is a choice of
this table where the vendor states nothing.

Left out on purpose: SNS over HTTP (subscribe the queue to the topic instead) and PayPal, which both ask the receiver
to fetch a certificate from an address in the request. `verifier.py` is the way to write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from surehand.webhooks import table_commerce, table_messages, table_platforms, table_standard
from surehand.webhooks.scheme import Scheme

SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {row.name: row for row in (*table_standard.ROWS, *table_commerce.ROWS, *table_messages.ROWS, *table_platforms.ROWS)}
)
