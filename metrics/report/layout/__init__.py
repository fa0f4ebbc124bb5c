"""Places of scientists on drawings of the co-authorship network, the same every time.

Read ``network_layout`` (by forces), then ``community_layout`` (community by community),
``drawn_network`` (which part of a network a page draws) and ``community_map`` (the communities of a
network that is too large for that).
"""
