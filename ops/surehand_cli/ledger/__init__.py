"""`surehand ledger`: what the ledger says about operations, and what an operator may write into it."""
