"""The page of a run, one HTML file: read ``page``, then ``overview`` and ``figures``."""
