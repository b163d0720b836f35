"""`surehand dlq`: look at dead letters, and move them with a plan, a journal and evidence."""
