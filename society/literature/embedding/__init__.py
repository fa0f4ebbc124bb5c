"""Text embeddings, which map texts to unit vectors under a name and a revision.

Read ``base`` (the interface) and ``registry`` (making and loading by name) first. There are three
kinds: ``lsa`` (fitted on the past papers); ``sentence_transformer`` (neural models
on this machine); ``hosted`` (models behind HTTP). The last two keep their vectors in a ``cache``.
Heavy libraries are imported when they are needed.
"""
