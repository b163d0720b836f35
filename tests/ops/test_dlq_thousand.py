"""The whole of it, with a thousand dead letters of three tenants and four failure codes on moto."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.ops.burial import CODES, TENANTS, Consumer, mend, parcels, trouble
from tests.ops.conftest import Said, Surehand
from tests.ops.depot import STATE

WHY = ("--despite", "mapping", "--execute", "--reason", "INC-17", "--rate", "500/s", "--json")


def counts(said: Said) -> dict[str, int]:
    found: dict[str, int] = said.lines[-1]["counts"]
    return found


@pytest.mark.exhaustive  # on the emulator it is faster: test_dlq_emulator.py
def test_of_a_thousand_letters_a_plan_moves_exactly_those_of_one_tenant_and_code_and_only_once(
    consumer: Consumer, surehand: Surehand
) -> None:
    letters = parcels(1_000)
    consumer.bury(letters)
    STATE.act = mend
    assert (
        surehand("dlq", "snapshot", "parcels", "-o", "snap.jsonl", "--no-tell", "--json").lines[0]["letters"] == 1_000
    )
    stats = surehand("dlq", "stats", "snap.jsonl", "--by", "tenant", "--by", "code", "--json").lines
    assert {(line["tenant"], line["code"]): line["letters"] for line in stats} == Counter(
        (one.tenant, one.trouble) for one in letters
    )

    meant = {one.number for one in letters if (one.tenant, one.trouble) == (TENANTS[1], CODES[2])}
    chosen = ("--tenant", TENANTS[1], "--code", CODES[2])
    plan = surehand("dlq", "plan", "snap.jsonl", *chosen, "-o", "plan.json", "--despite", "mapping", "--json")
    assert plan.lines[0]["letters"] == len(meant) == 83

    first = surehand("dlq", "redrive", "--plan", "plan.json", *WHY)
    assert (first.status, counts(first)) == (0, {"succeeded": 83}), first.err
    assert set(STATE.order) == meant
    second = surehand("dlq", "redrive", "--plan", "plan.json", *WHY)
    assert (second.status, counts(second)) == (0, {"already_applied": 83}), second.err
    assert Counter(STATE.effects.values()) == {1: 83}
    answer = consumer.sqs.get_queue_attributes(QueueUrl=consumer.dead, AttributeNames=["ApproximateNumberOfMessages"])
    assert int(answer["Attributes"]["ApproximateNumberOfMessages"]) == 1_000 - 83

    STATE.act = lambda parcel, job: trouble(parcel, job) if parcel.trouble == CODES[3] else None
    third = surehand("dlq", "redrive", "snap.jsonl", "--tenant", TENANTS[0], "--code", CODES[3], *WHY)
    assert third.status == 3
    assert counts(third)["failed"] == 1
    assert len(list(Path(".surehand/runs").iterdir())) == 3
