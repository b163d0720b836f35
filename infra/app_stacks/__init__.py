"""The stacks of this service's app, and the settings they share."""
