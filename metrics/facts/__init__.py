"""Known facts of science, and whether papers show them: read ``fact``, then ``tables``."""
