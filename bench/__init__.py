"""Performance, and the head-to-head with Powertools for AWS Lambda: `python -m bench`."""
