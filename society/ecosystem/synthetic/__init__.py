"""Synthetic ecosystems with invented people, papers and topics, made from a seed."""
