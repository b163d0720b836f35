"""What a million messages cost, from measured calls, CPU and log bytes: docs/cost.md."""
