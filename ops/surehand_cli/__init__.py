"""The command line: local runs, dead letters, the ledger."""
