"""Synthetic ecosystems with invented people, papers and topics, made from a seed.

Read ``synthetic`` first (careers, teams and citations), then ``text`` (the words).
"""
