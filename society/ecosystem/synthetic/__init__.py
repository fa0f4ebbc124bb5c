"""Synthetic ecosystems with invented people, papers and topics, made from a seed.

Read ``synthetic`` first, then ``community`` (careers, teams and citations without words) and
``text`` (the words).
"""
