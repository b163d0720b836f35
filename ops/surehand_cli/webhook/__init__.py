"""`surehand webhook`: requests as their senders would sign them, and why a captured one is refused."""
