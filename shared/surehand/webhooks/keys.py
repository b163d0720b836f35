"""Keys: what a stored secret means as bytes, and how it is named without being shown.

The format cannot be guessed from the text: `whsec_…` is base64 for Standard Webhooks and Svix, and a literal string
for Stripe. So each scheme names its own.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field
from typing import Literal

from surehand.errors import ConfigurationError

KeyFormat = Literal["utf8", "hex", "base64", "whsec", "whpk", "ed25519-hex", "spki"]

#: The formats that hold a public key, and need the extra `surehand[crypto]`.
PUBLIC_FORMATS = frozenset({"whpk", "ed25519-hex", "spki"})


class SecretUnusable(ConfigurationError):
    """A stored secret is missing, empty, or not of the format that its scheme needs. The text never shows it."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key that a signature may be made with.

    *label* says where it was stored (`AWSCURRENT`, `AWSPREVIOUS`); *fingerprint* is the first 8 hex digits of the
    SHA-256 of the stored text, so that an operator can compare it with `printf %s "$SECRET" | sha256sum`.
    """

    label: str
    fingerprint: str
    material: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """Label and fingerprint, as they stand in envelope and logs."""
        return f"{self.label}:{self.fingerprint}"


def read_key(text: str, key_format: KeyFormat, *, label: str = "key") -> Key:
    """Return the key that a stored text holds.

    Raises:
        SecretUnusable: It is empty, has white space at an end (a newline that a tool has added makes every signature
            fail), or is not of the format.
    """
    if not text.strip():
        raise SecretUnusable(f"the secret '{label}' is empty")
    if text != text.strip():
        raise SecretUnusable(f"the secret '{label}' begins or ends with white space; store it without")
    try:
        material = _material(text, key_format)
    except (binascii.Error, ValueError):
        raise SecretUnusable(f"the secret '{label}' is not of the format {key_format}") from None
    if not material:
        raise SecretUnusable(f"the secret '{label}' holds no key")
    return Key(label, hashlib.sha256(text.encode("utf-8")).hexdigest()[:8], material)


def _material(text: str, key_format: KeyFormat) -> bytes:
    if key_format == "utf8":
        return text.encode("utf-8")
    if key_format == "hex":
        return _unhex(text)
    if key_format in ("whsec", "whpk"):
        material = unbase64(text.removeprefix(f"{key_format}_"))
        if key_format == "whpk" and len(material) != 32:
            raise ValueError
        return material
    if key_format == "ed25519-hex":
        material = _unhex(text)
        if len(material) != 32:
            raise ValueError
        return material
    material = unbase64(text)
    if key_format == "spki":
        from surehand.webhooks.asymmetric import check_public_key

        check_public_key(material)
    return material


def unbase64(text: str) -> bytes:
    """Decode strict base64; the padding may be missing.

    Raises:
        ValueError: It has other characters, or an impossible length.
    """
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _unhex(text: str) -> bytes:
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})+", text):
        raise ValueError
    return bytes.fromhex(text)
