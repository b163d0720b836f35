"""The ingress: the status of every outcome, the order of the steps, and one effect whatever fails between them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surehand.webhooks.ingress import answer_event
from surehand.webhooks.outcome import Failure, Kind
from surehand.webhooks.rejection import STATUS, Reason
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.sign import sign
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.unwrap import decode
from tests.unit.webhooks.samples import NOW, OTHER, SECRETS, sample, unsigned
from tests.unit.webhooks.test_request import read
from tests.unit.webhooks.world import World, source

STRIPE = sample("stripe").request
SECRET = "shop/test/webhooks/source"


def refused(world: World, request: HttpRequest) -> Reason | None:
    """The reason of a refusal, whose answer says nothing but its status, and which stores nothing."""
    response, outcome = world.post(request)

    assert outcome.kind is Kind.REJECTED
    assert outcome.reason is not None
    assert (response.status, response.body) == (STATUS[outcome.reason], "")
    assert outcome.status == response.status
    assert not world.queue.sent
    return outcome.reason


@pytest.mark.parametrize("name", SCHEMES)
def test_a_genuine_event_of_every_row_is_stored_before_the_row_s_own_success(name):
    world = World(source(name))
    signed = sample(name)

    response, outcome = world.post(signed.request)

    success = SCHEMES[name].success
    assert (response.status, response.body) == (success.status, success.body)
    assert response.headers.get("content-type", "") == success.content_type
    assert outcome.kind is Kind.STORED
    (message,) = world.queue.sent
    assert decode(message.body).body == signed.request.body
    assert decode(message.body).identity.key == outcome.idempotency_key


def test_the_envelope_carries_neither_signature_nor_credentials_nor_query():
    for name in SCHEMES:
        world = World(source(name))
        request = replace(sample(name).request, headers={**sample(name).request.headers, "cookie": "c-o-o-k-i-e"})
        world.post(request)
        envelope = json.loads(world.queue.sent[0].body)
        del envelope["body"]
        kept = json.dumps(envelope)

        hidden = [request.headers.get(name, "-") for name in ("authorization", "x-gitlab-token", "cookie")]
        signatures = [value for header, value in request.headers.items() if "signature" in header]
        assert not [secret for secret in (*hidden, *signatures) if len(secret) > 1 and secret in kept]


def test_headers_that_the_row_hands_on_arrive():
    world = World(source("github"))
    world.post(sample("github").request)

    assert decode(world.queue.sent[0].body).headers == {"x-github-event": "issues", "x-github-delivery": "gh-1"}


# --- The table of statuses -------------------------------------------------------------------------------------------


def test_a_bad_signature_is_401():
    world = World(source("stripe"))
    world.vault.put(SECRET, OTHER["utf8"])

    assert refused(world, STRIPE) is Reason.BAD_SIGNATURE
    assert STATUS[Reason.BAD_SIGNATURE] == 401


def test_a_missing_signature_is_401():
    assert refused(World(source("stripe")), unsigned("stripe")) is Reason.MISSING_SIGNATURE


def test_a_stale_signature_is_401_and_told_apart_in_the_metrics():
    world = World(source("stripe"))
    world.later(minutes=6)

    assert refused(world, STRIPE) is Reason.STALE


def test_a_wrong_verify_token_is_403():
    world = World(source("meta"))
    world.vault.put(SECRET, '{"keys":["k"],"verify_token":"right"}')
    request = HttpRequest(
        method="GET", path="/hooks/source", raw_query="hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=1"
    )

    assert refused(world, request) is Reason.BAD_VERIFY_TOKEN


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/hooks/",
        "/hooks/other",
        "/hooks/source/",
        "/hooks/source/t",
        "/hooks/SOURCE",
        "/hooks/source%2f",
        "//hooks/source",
    ],
)
def test_an_unknown_path_is_404_and_never_410(path):
    assert refused(World(source("stripe")), replace(STRIPE, path=path)) is Reason.UNKNOWN_SOURCE


@pytest.mark.parametrize("path", ["/hooks/source", "/hooks/source/other"])
def test_an_unknown_tenant_is_404(path):
    world = World(source("stripe", tenants=frozenset({"a"}), secret="s/{tenant}"))

    assert refused(world, replace(STRIPE, path=path)) is Reason.UNKNOWN_SOURCE
    assert not world.vault.fetched


def test_a_wrong_method_is_405_and_names_the_right_ones():
    world = World(source("slack"))
    response, outcome = world.post(HttpRequest(method="GET", path="/hooks/source"))

    assert (response.status, response.headers["allow"], outcome.reason) == (405, "POST", Reason.WRONG_METHOD)


def test_a_get_that_is_no_handshake_is_405():
    response, _ = World(source("dropbox")).post(HttpRequest(method="GET", path="/hooks/source"))

    assert (response.status, response.headers["allow"]) == (405, "GET, POST")


def test_a_source_that_is_declared_gone_is_410():
    assert refused(World(source("stripe", state="gone")), STRIPE) is Reason.GONE


def test_a_body_beyond_the_cap_is_413_and_costs_no_secret():
    world = World(source("stripe", largest=10))

    assert refused(world, STRIPE) is Reason.TOO_LARGE
    assert not world.vault.fetched


def test_a_content_type_that_the_scheme_does_not_take_is_415():
    acme = Scheme(name="acme", signature="header:x-acme-sig", content_types=("application/json",))
    world = World(source(acme))
    request = sign(acme, unsigned("stripe"), SECRETS["utf8"][0], now=NOW)

    assert world.post(request)[0].status == 200
    world.queue.sent.clear()
    assert refused(world, request.with_headers({"content-type": "text/plain"})) is Reason.WRONG_CONTENT_TYPE


def test_a_body_that_must_be_read_to_be_verified_and_cannot_is_400():
    world = World(source("adyen"))

    assert refused(world, replace(sample("adyen").request, body=b"{}")) is Reason.MALFORMED


def test_an_event_of_the_platform_that_cannot_be_read_is_400():
    response, outcome = answer_event({"no": "event"}, {}, World().ports, now=NOW)

    assert (response.status, outcome.reason) == (400, Reason.MALFORMED)


def test_an_event_of_the_platform_that_is_too_large_is_413():
    event = {**read("http-api-stripe.json"), "body": "a" * (4 * 1024 * 1024 + 1)}

    assert answer_event(event, {}, World().ports, now=NOW)[0].status == 413


def failed(world: World, failure: Failure, request: HttpRequest = STRIPE) -> None:
    response, outcome = world.post(request)

    assert (response.status, response.body, response.headers["retry-after"]) == (503, "", "30")
    assert (outcome.kind, outcome.failure) == (Kind.FAILED, failure)
    assert outcome.error is not None


def test_secrets_that_are_away_are_503_and_never_401():
    world = World(source("stripe"))
    world.vault.down = True

    failed(world, Failure.SECRETS)


def test_a_missing_secret_is_503_even_for_a_forged_request():
    world = World(source("stripe"))
    world.vault.stored.clear()

    failed(world, Failure.SECRETS, unsigned("stripe"))


def test_a_secret_without_a_key_is_503():
    world = World(source("stripe"))
    world.vault.put(SECRET, "")

    failed(world, Failure.CONFIGURATION)


def test_a_mismatch_while_the_secrets_are_away_is_503_because_they_may_have_changed():
    world = World(source("stripe"))
    world.vault.put(SECRET, OTHER["utf8"])
    world.post(STRIPE)
    world.vault.down = True
    world.later(seconds=31)

    failed(world, Failure.SECRETS)


def test_a_queue_that_is_away_is_503():
    world = World(source("stripe"))
    world.queue.down = True

    failed(world, Failure.QUEUE)


def test_a_store_that_is_away_is_503_and_sends_no_message():
    world = World(source("standard-webhooks"))
    world.bucket.down = True

    failed(world, Failure.STORE, large())
    assert not world.queue.sent


def test_an_unexpected_failure_of_ours_is_503(monkeypatch):
    monkeypatch.setattr("surehand.webhooks.visit.identify", lambda *_, **__: 1 / 0)

    failed(World(source("stripe")), Failure.UNEXPECTED)


def test_a_row_s_own_retry_status_answers_our_failure():
    """Brevo stops on any 5xx and comes again on 429."""
    acme = Scheme(name="acme", signature="header:x-acme-sig", retry_status=429, retry_after=timedelta(seconds=0.2))
    world = World(source(acme))
    world.queue.down = True
    response, _ = world.post(sign(acme, unsigned("stripe"), SECRETS["utf8"][0], now=NOW))

    assert (response.status, response.headers["retry-after"]) == (429, "1")


def test_a_paused_source_is_503_without_a_look_at_the_request():
    world = World(source("stripe", state="paused"))
    response, outcome = world.post(unsigned("stripe"))

    assert (response.status, response.headers["retry-after"], outcome.kind) == (503, "30", Kind.PAUSED)
    assert not world.vault.fetched


def test_a_draining_source_stores_with_a_mark():
    world = World(source("stripe", state="drain"))
    response, _ = world.post(STRIPE)

    assert response.status == 200
    assert decode(world.queue.sent[0].body).drained


def test_a_dropped_type_is_answered_with_success_and_not_stored():
    world = World(source("stripe", drop_types=frozenset({"invoice.paid"})))
    response, outcome = world.post(STRIPE)

    assert (response.status, outcome.kind) == (200, Kind.DROPPED)
    assert not world.queue.sent


@pytest.mark.parametrize(("name", "kind"), [("stripe", Kind.DROPPED), ("linear", Kind.STORED), ("zoom", Kind.DROPPED)])
def test_where_types_are_named_others_are_dropped(name: str, kind: Kind):
    world = World(source(name, types=frozenset({"Issue.create"})))

    assert world.post(sample(name).request)[1].kind is kind


def test_a_signed_event_without_a_type_is_stored_although_types_are_named():
    world = World(source("sendgrid", types=frozenset({"bounce"})))  # its sample is a batch of two types

    assert world.post(sample("sendgrid").request)[1].kind is Kind.STORED


def test_a_forged_request_of_a_dropped_type_is_refused():
    assert refused(World(source("stripe", drop_types=frozenset({"invoice.paid"}))), unsigned("stripe")) is (
        Reason.MISSING_SIGNATURE
    )


def test_a_head_request_is_answered_where_the_scheme_asks_for_it_and_405_elsewhere():
    head = HttpRequest(method="HEAD", path="/hooks/source")

    assert World(source("intercom")).post(head)[0].status == 200
    assert World(source("stripe")).post(head)[0].status == 405


# --- Handshakes ------------------------------------------------------------------------------------------------------


def test_a_signed_handshake_is_answered_only_if_it_is_signed():
    scheme = SCHEMES["slack"]
    challenge = replace(unsigned("slack"), body=b'{"type":"url_verification","challenge":"abc"}')
    world = World(source("slack"))

    assert refused(world, challenge) is Reason.MISSING_SIGNATURE
    response, outcome = world.post(sign(scheme, challenge, SECRETS["utf8"][0], now=NOW))
    assert (response.status, response.body, outcome.kind) == (200, "abc", Kind.HANDSHAKE)
    assert not world.queue.sent


def test_zoom_s_handshake_is_answered_with_the_key_that_signed_it():
    world = World(source("zoom"))
    world.vault.put(SECRET, OTHER["utf8"], SECRETS["utf8"][1])
    body = b'{"event":"endpoint.url_validation","payload":{"plainToken":"p"}}'
    request = sign(SCHEMES["zoom"], replace(unsigned("zoom"), body=body), SECRETS["utf8"][0], now=NOW)
    alone = World(source("zoom"))

    assert world.post(request)[0].body == alone.post(request)[0].body


def test_a_handshake_that_needs_no_secret_fetches_none():
    world = World(source("dropbox"))
    response, _ = world.post(HttpRequest(method="GET", path="/hooks/source", raw_query="challenge=abc"))

    assert response.body == "abc"
    assert not world.vault.fetched


def test_a_handshake_whose_verify_token_is_not_stored_is_our_failure():
    world = World(source("meta"))
    query = "hub.mode=subscribe&hub.verify_token=a&hub.challenge=1"

    failed(world, Failure.CONFIGURATION, HttpRequest(method="GET", path="/hooks/source", raw_query=query))


# --- Rotation --------------------------------------------------------------------------------------------------------

OLD, NEW = SECRETS["utf8"][0], OTHER["utf8"]


def signed_with(secret: str, now=NOW) -> HttpRequest:
    return sign(SCHEMES["stripe"], unsigned("stripe"), secret, now=now)


@pytest.mark.parametrize(
    ("current", "previous", "secret", "status", "used_previous"),
    [
        (OLD, None, OLD, 200, False),
        (NEW, None, OLD, 401, False),
        (NEW, OLD, OLD, 200, True),
        (NEW, OLD, NEW, 200, False),
    ],
)
def test_in_a_rotation_old_and_new_are_accepted_as_long_as_both_are_stored(
    current, previous, secret, status, used_previous
):
    world = World(source("stripe"))
    world.vault.put(SECRET, current, previous)
    response, outcome = world.post(signed_with(secret))

    assert (response.status, outcome.previous_key) == (status, used_previous)


def test_a_secret_that_was_swapped_while_cached_is_noticed():
    world = World(source("stripe"))
    world.post(signed_with(OLD))
    world.vault.put(SECRET, NEW)
    world.later(seconds=31)
    response, outcome = world.post(signed_with(NEW))

    assert (response.status, outcome.refreshed) == (200, True)


def test_a_forged_request_makes_the_secret_be_fetched_at_most_twice_a_minute():
    world = World(source("stripe"))
    for _ in range(120):
        assert world.post(signed_with("forged"))[0].status == 401
        world.later(seconds=0.5)

    assert len(world.vault.fetched) <= 3


# --- Tenants ---------------------------------------------------------------------------------------------------------


def test_each_tenant_has_its_own_secret_and_its_own_keys():
    world = World(source("stripe", tenants=frozenset({"a", "b"}), secret="s/{tenant}"))
    world.vault.put("s/a", OLD)
    world.vault.put("s/b", NEW)

    assert world.post(replace(signed_with(OLD), path="/hooks/source/a"))[0].status == 200
    assert world.post(replace(signed_with(OLD), path="/hooks/source/b"))[0].status == 401
    (message,) = world.queue.sent
    assert (message.group, decode(message.body).identity.key) == ("a", "source/a#evt_1")


def test_a_valid_signature_of_one_tenant_is_no_use_on_another_s_path():
    world = World(source("stripe", tenants="any", tenant_in="body:account"))
    body = json.dumps({"id": "evt_1", "account": "a"}).encode()
    request = sign(SCHEMES["stripe"], replace(unsigned("stripe"), body=body), OLD, now=NOW)

    assert refused(world, replace(request, path="/hooks/source/b")) is Reason.OTHER_TENANT
    assert world.post(replace(request, path="/hooks/source/a"))[0].status == 200


def test_the_tenant_is_part_of_the_signed_url():
    world = World(source("square", tenants=frozenset({"a"}), secret="s/{tenant}"))
    world.vault.put("s/a", OLD)
    url = "https://hooks.example.com/hooks/source/a"
    request = sign(SCHEMES["square"], unsigned("square", "/hooks/source/a"), OLD, now=NOW, url=url)

    assert world.post(request)[0].status == 200


# --- Large bodies, and crashes between the steps ----------------------------------------------------------------------

_NOISE = os.urandom(300_000)


def large() -> HttpRequest:
    request = replace(unsigned("standard-webhooks"), body=_NOISE)
    return sign(SCHEMES["standard-webhooks"], request, SECRETS["whsec"][0], now=NOW)


def test_a_body_that_does_not_fit_is_stored_first_and_claimed_by_the_worker():
    world = World(source("standard-webhooks"))
    _, outcome = world.post(large())

    assert outcome.encoding == "s3"
    (message,) = world.queue.sent
    assert len(message.body) < 2_000
    assert decode(message.body, fetch=world.bucket.get).body == _NOISE


def test_a_crash_between_store_and_queue_ends_in_one_object_and_one_message():
    world = World(source("standard-webhooks"))
    world.queue.down = True
    assert world.post(large())[0].status == 503
    world.queue.down = False
    world.later(minutes=1)

    assert world.post(large())[0].status == 200
    assert (len(world.bucket.objects), len(world.queue.sent)) == (1, 1)


def test_a_crash_between_queue_and_answer_ends_in_two_messages_of_one_operation():
    world = World(source("stripe"))
    world.post(STRIPE)
    world.later(minutes=1)
    world.post(signed_with(OLD, now=world.now))

    first, second = (decode(message.body) for message in world.queue.sent)
    assert first.identity.key == second.identity.key
    assert first.sha256 == second.sha256


# --- Security --------------------------------------------------------------------------------------------------------


def test_nothing_of_a_request_or_secret_is_in_the_log_line():
    for name in SCHEMES:
        world = World(source(name))
        signed = sample(name)
        for request in (signed.request, signed.request.with_headers({"content-type": "s3cr3t/type"})):
            _, outcome = world.post(replace(request, raw_query=f"{request.raw_query}&x=s3cr3t".lstrip("&")))
            told = json.dumps(outcome.log_fields()) + repr(outcome)

            assert "s3cr3t" not in told
            assert signed.secret not in told


def test_a_failure_is_logged_by_its_type_and_not_by_its_text():
    world = World(source("stripe"))
    world.vault.stored[SECRET] = []
    world.ports = replace(world.ports, queue=None)  # type: ignore[arg-type]
    _, outcome = world.post(STRIPE)

    assert set(outcome.log_fields()) == {"outcome", "status", "source", "reason", "error", "size", "request_id"}


requests = st.builds(
    HttpRequest,
    method=st.sampled_from(["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "é"]),
    path=st.sampled_from(["/hooks/source", "/hooks/other", "/"]),
    raw_query=st.text(max_size=30)
    | st.sampled_from(["challenge=a", "validationToken=%ff", "crc_token=a", "hub.mode=subscribe"]),
    headers=st.dictionaries(
        st.sampled_from(sorted({name for scheme in SCHEMES for name in sample(scheme).request.headers})),
        st.text(max_size=30) | st.just("\ud800"),
        max_size=4,
    ),
    body=st.binary(max_size=60)
    | st.sampled_from([b"{}", b"[" * 50_000, b'{"notificationItems":[{}]}', b'{"value":[]}']),
)


@given(name=st.sampled_from(sorted(set(SCHEMES) - {"meta"})), request=requests)
@settings(max_examples=1500, deadline=None)
def test_no_hostile_request_is_a_5xx(name, request):
    response, outcome = World(source(name)).post(request)

    assert response.status < 500, outcome
    assert outcome.kind in (Kind.REJECTED, Kind.HANDSHAKE, Kind.PROBE)


@pytest.mark.parametrize("content_type", ["a\r\nb: c", "ü", "\ud800", "x" * 10_000, ""])
def test_a_hostile_content_type_of_a_genuine_event_is_stored_too(content_type):
    world = World(source("standard-webhooks"))
    response, _ = world.post(large().with_headers({"content-type": content_type}))

    assert response.status == 200
    assert world.queue.sent[0].body.isascii()


# --- Metrics ---------------------------------------------------------------------------------------------------------


def metrics(world: World, request: HttpRequest) -> dict[str, Any]:
    return world.post(request)[1].metrics()


def test_an_accepted_event_counts_its_size_and_ages():
    counted = metrics(World(source("paddle")), sample("paddle").request)

    assert counted == {
        "Received": 1.0,
        "Accepted": 1.0,
        "PayloadBytes": float(len(sample("paddle").request.body)),
        "SignedAge": 0.0,
        "EventAge": 59.5,
    }


def test_a_refused_and_a_failed_request_count_as_such():
    world = World(source("stripe"))

    assert metrics(world, unsigned("stripe")) == {"Received": 1.0, "Rejected": 1.0}
    world.queue.down = True
    assert metrics(world, STRIPE)["EnqueueFailed"] == 1.0
