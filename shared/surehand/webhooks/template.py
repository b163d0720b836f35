"""What a signature covers, written as a template: `{timestamp}.{body}`.

| piece           | is                                                                                        |
| --------------- | ----------------------------------------------------------------------------------------- |
| `{body}`        | the raw bytes of the body                                                                 |
| `{timestamp}`   | the timestamp exactly as it was sent                                                      |
| `{id}`          | the id exactly as it was sent                                                             |
| `{method}`      | the HTTP method                                                                           |
| `{url}`         | the public URL of the source, as configured, and `?` and the query string if one was sent |
| `{fixed_url}`   | the public URL exactly as configured                                                      |
| `{hubspot_url}` | `{url}` with the escapes decoded that HubSpot decodes                                     |
| `{header:name}` | another header                                                                            |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from surehand.errors import DeclarationError

_PIECE = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")
_NAME = re.compile(r"body|timestamp|id|method|url|fixed_url|hubspot_url|header:[a-z0-9-]+")

#: The pieces that are part of the public URL, which must then be configured.
URLS = frozenset({"url", "fixed_url", "hubspot_url"})


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a template: the name of a value, or a literal text (then *name* is empty)."""

    name: str
    literal: str = ""


@cache
def parse_template(template: str) -> tuple[Piece, ...]:
    """Read a template.

    Raises:
        DeclarationError: It names an unknown piece or has a stray brace.
    """
    pieces: list[Piece] = []
    for match in _PIECE.finditer(template):
        name, literal, stray = match.groups()
        if stray or (name is not None and not _NAME.fullmatch(name)):
            raise DeclarationError(
                f"signed={template!r}: '{match[0]}' is no piece of a signed content. Pieces are {{body}}, "
                "{timestamp}, {id}, {method}, {url}, {fixed_url}, {hubspot_url} and {header:lower-case-name}."
            )
        pieces.append(Piece(name) if name is not None else Piece("", literal))
    return tuple(pieces)


def names_in(template: str) -> frozenset[str]:
    """Return the names of the pieces of a template."""
    return frozenset(piece.name for piece in parse_template(template) if piece.name)


def separator_after(pieces: tuple[Piece, ...], index: int) -> str:
    """Return the literal that ends the piece at *index*, or the empty text.

    A value that contains it could be cut elsewhere and mean another request under the same signature.
    """
    following = pieces[index + 1] if index + 1 < len(pieces) else None
    return following.literal if following is not None else ""
