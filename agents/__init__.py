"""A scientist, its profile and memory, one question to it, and the answer."""
