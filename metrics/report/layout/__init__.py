"""Places of scientists on drawings of the co-authorship network, the same every time.

Read ``community_layout`` (by forces, and community by community), then ``drawn_network``: which
part of a network a page draws, and the communities of one that is too large for that.
"""
