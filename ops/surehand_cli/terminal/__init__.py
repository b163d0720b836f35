"""What a command says: text for people on standard error, JSON lines for programs on standard output."""
