"""A soak: very many messages through surehand in a simulated account in which everything goes wrong at stated rates."""
