"""When a redrive must stop: letters that fail again, sends that fail."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

#: The latest so many outcomes decide, and this share of failures among them stops the run.
WINDOW, SHARE = 50, 0.05
#: The same for sends that SQS refused; few are needed, since a refusal has no cause that goes away by sending more.
SENDS, SEND_SHARE = 20, 0.20


@dataclass(slots=True)
class Breaker:
    """Counts outcomes. At least two failures open it: one alone is no pattern, however few letters there were."""

    window: int = WINDOW
    share: float = SHARE
    _outcomes: deque[bool] = field(default_factory=deque)
    _sends: deque[bool] = field(default_factory=deque)

    def outcome(self, *, failed: bool) -> None:
        """Count what became of a letter."""
        self._outcomes.append(failed)
        if len(self._outcomes) > self.window:
            self._outcomes.popleft()

    def send(self, *, refused: bool) -> None:
        """Count a letter that SQS took or refused."""
        self._sends.append(refused)
        if len(self._sends) > SENDS:
            self._sends.popleft()

    @property
    def open(self) -> str | None:
        """Why the run must stop, or None."""
        failed = sum(self._outcomes)
        if failed >= 2 and failed > self.share * len(self._outcomes):
            return f"{failed} of the last {len(self._outcomes)} letters failed again"
        refused = sum(self._sends)
        if refused >= 2 and refused > SEND_SHARE * len(self._sends):
            return f"SQS refused {refused} of the last {len(self._sends)} sends"
        return None
