"""What the shop meets in a local run: its provider, played by a stub, and the messages that are sent."""
