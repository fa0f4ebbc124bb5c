"""The VirSci protocol with its five stages from an invitation to an abstract.

Read ``protocol``, then ``topic``, ``ideas``, ``novelty``, ``abstract``; ``settings`` has all keys.
"""
