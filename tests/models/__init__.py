"""Runs of small real models on this machine (`make test-model`).

SmolLM2-135M and Gemma 3 270M write, all-MiniLM-L6-v2 embeds. What is asserted is structure and
counts, never words: a model of this size shows that everything works, and not what models say.
"""
