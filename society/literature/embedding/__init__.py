"""Text embeddings, which map texts to unit vectors under a name and a revision.

Read ``base`` and ``registry`` first; heavy libraries are imported when they are needed.
"""
