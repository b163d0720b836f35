"""What a provider has really done: its effects, by idempotency key, and the requests that led to them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class KeyReused(Exception):
    """An idempotency key came again with another request."""


@dataclass(slots=True)
class Effect:
    """One effect.

    *key* is the idempotency key, *reference* the caller's own name of the work (an order, a movement), *stream* what
    the order matters within. *requests* counts the requests under that key, *repeated* those among them that came
    although the caller had already been told that it was done.
    """

    key: str
    kind: str
    reference: str
    stream: str
    request: Mapping[str, Any]
    requests: int = 1
    repeated: int = 0
    told: bool = False


@dataclass(slots=True)
class Book:
    """Every effect, in the order in which it happened. Safe to use from several threads."""

    _effects: dict[str, Effect] = field(default_factory=dict)
    _refused: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refusals(self, key: str) -> int:
        """Count one more refusal for this key and return how many there are now."""
        with self._lock:
            self._refused[key] += 1
            return self._refused[key]

    def apply(self, key: str, *, kind: str, reference: str, stream: str, request: Mapping[str, Any]) -> Effect:
        """Have the effect, or find the one that the key stands for.

        Raises:
            KeyReused: The key stands for another request.
        """
        with self._lock:
            known = self._effects.get(key)
            if known is None:
                effect = Effect(key=key, kind=kind, reference=reference, stream=stream, request=dict(request))
                self._effects[key] = effect
                return effect
            if (known.kind, known.request) != (kind, dict(request)):
                raise KeyReused(key)
            known.requests += 1
            known.repeated += known.told
            return known

    def tell(self, effect: Effect) -> None:
        """Note that the caller has been told in time that the effect has happened."""
        with self._lock:
            effect.told = True

    def effects(self, kind: str | None = None) -> Sequence[Effect]:
        """Return the effects of one kind, or all, in the order in which they happened."""
        with self._lock:
            return [effect for effect in self._effects.values() if kind in (None, effect.kind)]

    def duplicated(self) -> int:
        """Count what was done twice: two effects for one reference, and requests repeated after an answer.

        The second would have been a second effect at a provider that knows no idempotency keys.
        """
        effects = self.effects()
        references = Counter((effect.kind, effect.reference) for effect in effects)
        return sum(count - 1 for count in references.values()) + sum(effect.repeated for effect in effects)
