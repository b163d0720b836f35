"""Secrets: what a stored value may be, and a cache that notices a rotation and survives an outage."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import pytest

from surehand.webhooks.keys import SecretUnusable, read_key
from surehand.webhooks.secrets import (
    FRESH,
    GRACE,
    REFRESH_AFTER,
    SecretCache,
    SecretsUnavailable,
    SecretVersion,
    read_secrets,
)
from tests.unit.webhooks.world import World


def current(text: str, previous: str | None = None) -> list[SecretVersion]:
    versions = [SecretVersion("AWSCURRENT", text)]
    return versions + ([SecretVersion("AWSPREVIOUS", previous)] if previous is not None else [])


def materials(versions: list[SecretVersion]) -> list[bytes]:
    return [key.material for key in read_secrets(versions, "utf8").keys]


def test_a_plain_text_is_one_key_named_by_its_label_and_fingerprint():
    (key,) = read_secrets(current("secret"), "utf8").keys

    assert key.id == "AWSCURRENT:" + hashlib.sha256(b"secret").hexdigest()[:8]


@pytest.mark.parametrize(
    "value",
    [["new", "old"], {"keys": ["new", "old"]}, {"current": "new", "previous": "old"}],
)
def test_a_json_secret_holds_several_keys(value):
    assert materials(current(json.dumps(value))) == [b"new", b"old"]


def test_current_and_previous_version_are_both_tried_the_current_first():
    assert materials(current("new", "old")) == [b"new", b"old"]


def test_an_equal_key_is_tried_once():
    assert materials(current("same", "same")) == [b"same"]


def test_a_previous_version_that_is_a_placeholder_is_ignored_and_told():
    secrets = read_secrets(current("aabb", "to be filled in"), "hex")

    assert (len(secrets.keys), secrets.ignored) == (1, ("AWSPREVIOUS",))


def test_a_verify_token_stands_beside_the_keys():
    assert read_secrets(current('{"keys":["k"],"verify_token":"t"}'), "utf8").verify_token == "t"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "secret\n",
        " secret",
        "[]",
        "{}",
        '[""]',
        "[1]",
        "[null]",
        '{"keys":"k"}',
        '{"current":1}',
        "{broken",
        "[1",
    ],
)
def test_a_value_that_holds_no_key_is_unusable(text):
    with pytest.raises(SecretUnusable):
        read_secrets(current(text), "utf8")


def test_a_secret_without_any_version_is_unusable():
    with pytest.raises(SecretUnusable):
        read_secrets([], "utf8")


@pytest.mark.parametrize(
    ("text", "key_format"),
    [
        ("xyz", "hex"),
        ("abc", "hex"),
        ("whsec_!!!", "whsec"),
        ("whsec_", "whsec"),
        ("whpk_AAAA", "whpk"),
        ("00", "ed25519-hex"),
        ("AAAA", "spki"),
    ],
)
def test_a_key_of_another_format_is_unusable_and_is_not_shown(text, key_format):
    with pytest.raises(SecretUnusable) as caught:
        read_key(text, key_format)

    assert text not in str(caught.value)


def test_a_whsec_key_is_base64_and_its_padding_may_be_missing():
    assert read_key("whsec_YWI", "whsec").material == read_key("YWI=", "whsec").material == b"ab"


def test_a_literal_key_keeps_its_prefix():
    assert read_key("whsec_test", "utf8").material == b"whsec_test"


def test_no_text_of_a_key_or_version_is_in_its_representation():
    shown = repr(read_key("hunter2", "utf8")) + repr(SecretVersion("AWSCURRENT", "hunter2"))

    assert "hunter2" not in shown + repr(read_secrets(current('{"keys":["hunter2"],"verify_token":"hunter2"}'), "utf8"))


@pytest.fixture
def world() -> World:
    world = World()
    world.vault.put("s", "first")
    return world


@pytest.fixture
def cache(world) -> SecretCache:
    return SecretCache(world.vault.fetch, world.clock)


def test_a_fresh_secret_is_not_fetched_again(world, cache):
    cache.load("s", max_age=FRESH)
    world.later(seconds=300)
    cache.load("s", max_age=FRESH)

    assert world.vault.fetched == ["s"]


def test_an_old_secret_is_fetched_again(world, cache):
    cache.load("s", max_age=FRESH)
    world.vault.put("s", "second")
    world.later(seconds=301)

    assert cache.load("s", max_age=FRESH).versions[0].text == "second"


def test_a_flood_of_mismatches_costs_one_fetch_in_half_a_minute(world, cache):
    cache.load("s", max_age=FRESH)
    for _ in range(100):
        world.later(seconds=0.3)
        cache.load("s", max_age=REFRESH_AFTER)

    assert len(world.vault.fetched) == 1
    world.later(seconds=1)
    cache.load("s", max_age=REFRESH_AFTER)
    assert len(world.vault.fetched) == 2


def test_an_outage_is_bridged_by_what_is_known_for_an_hour(world, cache):
    cache.load("s", max_age=FRESH)
    world.vault.down = True
    world.later(seconds=GRACE.total_seconds())

    assert cache.load("s", max_age=FRESH).versions[0].text == "first"
    world.later(seconds=6)
    with pytest.raises(SecretsUnavailable):
        cache.load("s", max_age=FRESH)


def test_a_secret_that_cannot_be_fetched_is_not_asked_for_by_every_request(world, cache):
    world.vault.down = True
    for _ in range(10):
        with pytest.raises(SecretsUnavailable):
            cache.load("s", max_age=FRESH)

    assert len(world.vault.fetched) == 1
    world.vault.down = False
    world.later(seconds=6)
    assert cache.load("s", max_age=FRESH).fetched_at == world.now


def test_a_missing_secret_is_unavailable(cache):
    with pytest.raises(SecretsUnavailable):
        cache.load("unknown", max_age=timedelta(0))
