"""Archives of runs and studies, and the commands ``society export``."""
