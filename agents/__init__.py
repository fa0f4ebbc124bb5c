"""One mind: a scientist's profile and memory, one question to it, and the answer."""
