"""Webhooks: verified over the raw bytes, durable in the queue before the 200, idempotent in the worker."""
