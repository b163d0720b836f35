"""Stored secrets: several live versions of one, read into keys, and a cache that notices a rotation.

A secret's value is one of

* the plain text of the key;
* a JSON list of keys: `["new", "old"]`;
* a JSON object: `{"current": "…", "previous": "…", "verify_token": "…"}` or `{"keys": […], "verify_token": "…"}`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from surehand.webhooks.keys import Key, KeyFormat, SecretUnusable, read_key

#: How long a fetched secret is used before it is fetched again.
FRESH = timedelta(minutes=5)
#: A signature that matches no key makes a secret be fetched again, if it is at least this old: so a flood of forged
#: requests costs two fetches a minute.
REFRESH_AFTER = timedelta(seconds=30)
#: How long a secret goes on being used when it cannot be fetched again. Senders that never retry would lose events.
GRACE = timedelta(hours=1)
#: After a failed fetch the next one waits this long.
PAUSE = timedelta(seconds=5)

CURRENT = "AWSCURRENT"
#: Keys tried for one request.
MOST_KEYS = 10


class SecretsUnavailable(Exception):
    """The secret store cannot be reached, or does not have this secret. Our own failure, never the sender's."""


@dataclass(frozen=True, slots=True)
class SecretVersion:
    """One live version of a secret: the label it is stored under (`AWSCURRENT`, `AWSPREVIOUS`) and its value."""

    label: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The live versions of one secret, the current one first, and when they were fetched (an aware datetime).

    *outdated* says that they are older than was asked for, because the store cannot be reached.
    """

    versions: tuple[SecretVersion, ...]
    fetched_at: datetime
    outdated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What the versions hold. *ignored* are labels of other versions than the current one that hold no key."""

    keys: tuple[Key, ...]
    verify_token: str | None = field(default=None, repr=False)
    ignored: tuple[str, ...] = ()


def read_secrets(versions: Sequence[SecretVersion], key_format: KeyFormat) -> Secrets:
    """Read all versions into keys, the current ones first.

    The current version must be readable. Another one may hold anything: the version before the first real one is
    usually a placeholder.

    Raises:
        SecretUnusable: There is no version, or the first one holds no key of this format.
    """
    if not versions:
        raise SecretUnusable("the secret has no version")
    keys: list[Key] = []
    token: str | None = None
    ignored: list[str] = []
    for index, version in enumerate(versions):
        try:
            found, its_token = _read_version(version, key_format)
        except SecretUnusable:
            if index == 0:
                raise
            ignored.append(version.label)
            continue
        keys += [key for key in found if key.material not in [known.material for known in keys]]
        token = token or its_token
    return Secrets(keys=tuple(keys[:MOST_KEYS]), verify_token=token, ignored=tuple(ignored))


def _read_version(version: SecretVersion, key_format: KeyFormat) -> tuple[list[Key], str | None]:
    texts, token = stored_texts(version)
    return [read_key(text, key_format, label=label) for label, text in texts], token


def stored_texts(version: SecretVersion) -> tuple[list[tuple[str, str]], str | None]:
    """Return the labelled texts of the keys that one version holds, the current one first, and its `verify_token`.

    Raises:
        SecretUnusable: It begins like JSON and is none, or holds no key. The text never shows it.
    """
    if not version.text.lstrip().startswith(("[", "{")):
        return [(version.label, version.text)], None
    try:
        value = json.loads(version.text)
    except (ValueError, RecursionError):
        raise SecretUnusable(f"the secret '{version.label}' begins like JSON and is none") from None
    token = value.get("verify_token") if isinstance(value, dict) else None
    if token is not None and (not isinstance(token, str) or not token.strip()):
        raise SecretUnusable(f"the verify_token of the secret '{version.label}' is empty or no text")
    texts = list(_texts(version.label, value))
    if not texts:
        raise SecretUnusable(f"the secret '{version.label}' holds no key")
    return texts, token


def _texts(label: str, value: Any) -> Iterator[tuple[str, str]]:
    """Give the texts in a JSON secret: `keys` or a list by index, `current` and `previous` by name."""
    named = {"current": label, "previous": f"{label}.previous"}
    listed = value.get("keys", []) if isinstance(value, dict) else value
    pairs = [(f"{label}[{index}]", text) for index, text in enumerate(listed if isinstance(listed, list) else [None])]
    if isinstance(value, dict):
        pairs += [(as_label, value[name]) for name, as_label in named.items() if value.get(name) is not None]
    for as_label, text in pairs:
        if not isinstance(text, str):
            raise SecretUnusable(f"the secret '{as_label}' is no text")
        yield as_label, text


class SecretCache:
    """Secrets, fetched at most as often as they are worth it. Implements `SecretsPort` over any fetch and clock.

    *fetch* returns the live versions of a secret, the current one first; whatever it raises counts as unavailable.
    *clock* returns the aware time now.
    """

    def __init__(self, fetch: Callable[[str], Sequence[SecretVersion]], clock: Callable[[], datetime]) -> None:
        self._fetch = fetch
        self._clock = clock
        self._loaded: dict[str, Loaded] = {}
        self._failed: dict[str, tuple[datetime, Exception]] = {}

    def load(self, name: str, *, max_age: timedelta) -> Loaded:
        """Return a secret that was fetched at most *max_age* ago, or fetch it; or an outdated one within `GRACE`.

        Raises:
            SecretsUnavailable: It cannot be fetched, and no version younger than `GRACE` is at hand.
        """
        now = self._clock()
        known = self._loaded.get(name)
        if known is not None and now - known.fetched_at <= max_age:
            return known
        failed = self._failed.get(name)
        if failed is None or now - failed[0] > PAUSE:
            try:
                loaded = Loaded(tuple(self._fetch(name)), now)
            except Exception as error:  # noqa: BLE001 - whatever the store raises, the sender is told to come again
                failed = self._failed[name] = (now, error)
            else:
                self._failed.pop(name, None)
                self._loaded[name] = loaded
                return loaded
        if known is not None and now - known.fetched_at <= GRACE:
            return replace(known, outdated=True)
        raise SecretsUnavailable(f"the secret '{name}' cannot be fetched") from failed[1]
