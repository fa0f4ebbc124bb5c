"""Runs against litellm's proxy, a program of others that speaks the API (`make test-peers`).

No language model takes part: the words are fixed, and only the machinery is tried. Real models
answer in tests/models.
"""
