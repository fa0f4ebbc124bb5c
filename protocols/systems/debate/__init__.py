"""Debate: members put forward ideas alone, see the others' and revise their own, then vote."""
