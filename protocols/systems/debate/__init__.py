"""A debate, in which members revise their ideas in sight of the others' and vote."""
