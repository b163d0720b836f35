"""The two sides: the same order, the same events, each written as its own documentation recommends."""
