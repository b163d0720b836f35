"""`surehand send`: rows from a file into a handler's queue, validated and keyed before the first one leaves."""
