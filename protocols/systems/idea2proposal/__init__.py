"""Idea2Proposal, with six arrangements of a discussion that ends in a five-part proposal.

Read ``protocol`` (the rounds and the synthesis), then ``composition`` (who may be in a team of each
arrangement).
"""
