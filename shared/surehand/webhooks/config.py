"""Sources as one JSON text, so that the ingress function knows them without importing any handler and its models.

Infra writes the text from the declarations (`dump_sources`) into the function's environment; the ingress reads it
once, at initialisation (`load_sources`). A row of the table goes by its name, a house scheme by its fields, and a
scheme with a verifier of its own by where it stands in Python: `handlers.bank:BANK`.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields
from datetime import timedelta
from typing import Any

from surehand.errors import ConfigurationError, DeclarationError
from surehand.webhooks.scheme import Answer, Scheme
from surehand.webhooks.source import Source, index
from surehand.webhooks.table import SCHEMES

#: Not needed at run time, or (the queue's URL) found in a variable of its own.
_LEFT_OUT = frozenset({"source", "verifier", "queue"})


def dump_sources(sources: Iterable[Source], *, verifiers: Mapping[str, str] | None = None) -> str:
    """Return the sources as compact JSON. *verifiers* says, by scheme name, where a scheme with a verifier stands.

    Raises:
        DeclarationError: A scheme has a verifier, is none of the table, and *verifiers* does not say where it stands.
    """
    return json.dumps([_dump_source(source, verifiers or {}) for source in sources], separators=(",", ":"))


def load_sources(text: str, queue_of: Callable[[str], str]) -> Mapping[str, Source]:
    """Return the sources by name. *queue_of* returns the URL of a source's queue.

    Raises:
        ConfigurationError: The text is not what `dump_sources` writes.
        DeclarationError: A source contradicts itself, or needs `surehand[crypto]`.
    """
    try:
        return index([_load_source(value, queue_of) for value in json.loads(text)])
    except (ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        raise ConfigurationError(f"the webhook sources cannot be read: {type(error).__name__}") from error


def _dump_source(source: Source, verifiers: Mapping[str, str]) -> dict[str, Any]:
    value = _changed(source, fields(Source))
    value["scheme"] = _dump_scheme(source.scheme, verifiers)
    return value


def _dump_scheme(scheme: Scheme, verifiers: Mapping[str, str]) -> str | dict[str, Any]:
    if SCHEMES.get(scheme.name) == scheme:
        return scheme.name
    if scheme.verifier is None:
        return _changed(scheme, fields(Scheme))
    if scheme.name not in verifiers:
        raise DeclarationError(f"scheme '{scheme.name}' has a verifier: make it an attribute of a module")
    return verifiers[scheme.name]


def _changed(value: Source | Scheme, every: Iterable[Field[Any]]) -> dict[str, Any]:
    """Return the fields that differ from their defaults, as JSON values."""
    changed: dict[str, Any] = {}
    for field in every:
        given = getattr(value, field.name)
        if (
            field.name not in _LEFT_OUT
            and field.name != "scheme"
            and (field.default is MISSING or given != field.default)
        ):
            changed[field.name] = _plain(given)
    return changed


def _plain(value: Any) -> Any:
    if isinstance(value, timedelta):
        return {"seconds": value.total_seconds()}
    if isinstance(value, Answer):
        return {"status": value.status, "body": value.body, "content_type": value.content_type}
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    return list(value) if isinstance(value, tuple) else value


def _load_source(value: dict[str, Any], queue_of: Callable[[str], str]) -> Source:
    given = {name: _rich(plain) for name, plain in value.items() if name != "scheme"}
    return Source(scheme=_load_scheme(value["scheme"]), queue=queue_of(value["name"]), **given)


def _load_scheme(value: str | dict[str, Any]) -> Scheme:
    if isinstance(value, dict):
        return Scheme(**{name: _rich(plain) for name, plain in value.items()})
    if ":" not in value:
        return SCHEMES[value]
    module, _, name = value.partition(":")
    scheme = getattr(importlib.import_module(module), name)
    if not isinstance(scheme, Scheme):
        raise TypeError(f"{value} is no Scheme")
    return scheme


def _rich(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, dict):
        return value
    if "seconds" in value:
        return timedelta(seconds=value["seconds"])
    return frozenset(value["set"]) if "set" in value else Answer(**value)
