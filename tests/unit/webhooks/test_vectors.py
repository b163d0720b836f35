"""The published vectors: 51 requests of 21 schemes, each with the answer that its source gives."""

from __future__ import annotations

from typing import Any

import pytest

from surehand.webhooks.identity import identify
from surehand.webhooks.place import Reading
from surehand.webhooks.rejection import Rejected
from surehand.webhooks.verify import verify
from tests.unit.webhooks.vectors import VECTORS, keys_of, now_of, request_of, scheme_of, url_of

GENUINE = [vector for vector in VECTORS if vector["expect"]["valid"]]
FORGED = [vector for vector in VECTORS if not vector["expect"]["valid"]]


def named(vector: dict[str, Any]) -> str:
    return str(vector["id"])


@pytest.mark.parametrize("vector", GENUINE, ids=named)
def test_a_genuine_vector_is_accepted(vector):
    verified = verify(scheme_of(vector), request_of(vector), keys_of(vector), now=now_of(vector), url=url_of(vector))

    assert verified.key_index == 0


@pytest.mark.parametrize("vector", FORGED, ids=named)
def test_a_forged_vector_is_rejected_and_nothing_else_is_raised(vector):
    with pytest.raises(Rejected):
        verify(scheme_of(vector), request_of(vector), keys_of(vector), now=now_of(vector), url=url_of(vector))


@pytest.mark.parametrize("vector", [vector for vector in GENUINE if "event_id" in vector["expect"]], ids=named)
def test_a_vector_with_an_event_id_is_identified_by_it(vector):
    identity = identify(scheme_of(vector), Reading(request_of(vector)), source="s")

    assert (identity.id, identity.signed) == (vector["expect"]["event_id"], True)


def test_the_file_holds_every_vector_that_it_held_when_the_engine_was_written():
    assert (len(GENUINE), len(FORGED)) == (30, 21)
