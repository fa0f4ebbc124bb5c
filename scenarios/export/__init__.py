"""What a run's scientists did and wrote, in the formats of other programs.

Read ``dataset`` (tables that can be shared), ``croissant`` (their metadata for machines; the
datasheet for people is the template ``datasheet.txt``), ``otlp`` (traces) and ``command``.
"""
