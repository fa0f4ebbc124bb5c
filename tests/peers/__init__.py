"""Runs against litellm's proxy, a program of others that speaks the API (`make test-peers`).

It is started on the loopback address, in a process of its own (``litellm_proxy.py``). No language
model takes part: the words are fixed, and only the machinery is tried. ``runs.py`` names the runs,
and ``python -m tests.peers.table`` prints what came of them. Real models answer in tests/models.
"""
