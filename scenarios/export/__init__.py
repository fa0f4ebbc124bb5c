"""What a run's scientists did and wrote, in the formats of other programs.

Read ``dataset`` (tables that can be shared, with a datasheet for people and metadata for machines),
``otlp`` (traces) and ``command``.
"""
