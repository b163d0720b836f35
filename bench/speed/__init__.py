"""Speed and cost of one message, beside the peer: one module for each figure."""
