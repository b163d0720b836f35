"""Ticks of the past: which of them the ledger does not know as done, and sending those."""
