"""Runs against programs of others that speak the chat completions API (`make test-peers`).

Two peers are started on the loopback address, each in a process of its own: the proxy of litellm
(``litellm_proxy.py``), and llama.cpp's server (``llama_server.py``) with a small model of random
weights that is made on the spot (``random_model.py``). No language model takes part: the words
are fixed, or noise, and only the machinery is tried. ``runs.py`` names the runs, and
``python -m tests.peers.table`` prints what came of them.
"""
