"""One file for each verb of `surehand dlq`."""
