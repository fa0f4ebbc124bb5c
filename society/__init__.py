"""The shared world of the scientists, and its time."""
