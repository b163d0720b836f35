"""What runs in a fresh interpreter, as in a new execution environment. Light: importing it is part of the figure."""
