"""Why a command has failed, in one line out of its log."""

from __future__ import annotations

import re
from pathlib import Path

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NO_NETWORK = re.compile(
    r"dns error|name resolution|getaddrinfo|ENOTFOUND|EAI_AGAIN|ENETUNREACH|Network is unreachable|sending request"
)
_TELLING = re.compile(r"\b\w*[Ee]rror\b|❌")
#: What says only that there was an error, or where.
_SAYS_NOTHING = re.compile(r"^(at |File )|exited with error|^raise |^\s*\^+$")


def last_words(log: Path) -> str:
    """Return the line that most likely says why the command failed, at most 300 characters."""
    text = _COLOURS.sub("", log.read_text(encoding="utf-8", errors="replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(_NO_NETWORK.search(line) for line in lines[-40:]):
        return "the network cannot be reached, and something must be downloaded first; later runs will do without"
    telling = [line for line in lines if _TELLING.search(line) and not _SAYS_NOTHING.search(line)]
    return ((telling or lines or ["no output"])[-1])[:300]
