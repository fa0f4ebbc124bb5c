"""What a run's scientists wrote as a data set that can be shared.

Read ``dataset`` (the tables), then ``croissant`` (metadata for machines); the datasheet for people
is the template ``datasheet.txt``.
"""
