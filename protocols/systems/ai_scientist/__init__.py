"""AI Scientist: one scientist, an archive of ideas, reflection, and a check of novelty.

Read ``protocol``; ``tree_search`` is the second version, a best-first search over ideas.
"""
