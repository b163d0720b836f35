"""What stops a command and is no fault of ours."""

from __future__ import annotations


class Problem(Exception):
    """Something in the user's surroundings prevents the command. The text is one line that says what to do."""
