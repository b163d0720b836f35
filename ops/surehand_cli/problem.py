"""What stops a command and is no fault of ours."""

from __future__ import annotations


class Problem(Exception):
    """Something in the user's surroundings prevents the command. The text is one line that says what to do.

    *status* is the process's exit status.
    """

    status = 2


class Refusal(Problem):
    """The command is possible and would be unsafe or is not confirmed, so it is refused. Nothing has changed."""

    status = 5


class Unchecked(Problem):
    """A check came to no verdict, since most of what it looks at could not be read."""

    status = 3


class Unreachable(Problem):
    """AWS (or the emulator) cannot be reached, or does not let us: credentials, permissions, region, endpoint."""

    status = 1
