"""A scheme with a verifier is found where it stands, and best where nothing else does."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from surehand import DeclarationError, Scheme, webhook
from surehand.declare.verifiers import places_of
from surehand.webhooks.adyen import AdyenVerifier

SCHEME = Scheme(name="elsewhere", verifier=AdyenVerifier(), body_signed="partial")
ALONE = Scheme(name="alone", verifier=AdyenVerifier(), body_signed="partial")


@webhook("both", scheme=SCHEME)
def both(event: dict[str, Any]) -> None:
    """Its scheme stands here and in a module of its own."""


@webhook("alone", scheme=ALONE)
def alone(event: dict[str, Any]) -> None:
    """Its scheme stands beside it."""


def test_a_module_of_its_own_comes_before_the_handler_s(monkeypatch: pytest.MonkeyPatch) -> None:
    package = both.__module__.partition(".")[0]
    own = ModuleType(f"{package}.zz_schemes")
    own.NAMED = SCHEME  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, own.__name__, own)

    assert places_of([both, alone]) == {
        "elsewhere": f"{package}.zz_schemes:NAMED",
        "alone": f"{alone.__module__}:ALONE",
    }


def test_a_scheme_that_no_module_has_is_refused_with_the_reason() -> None:
    @webhook("hidden", scheme=Scheme(name="hidden", verifier=AdyenVerifier(), body_signed="partial"))
    def hidden(event: dict[str, Any]) -> None:
        """Its scheme stands nowhere."""

    with pytest.raises(DeclarationError, match="must be an attribute of a module"):
        places_of([hidden])
