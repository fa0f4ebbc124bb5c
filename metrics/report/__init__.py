"""The page of a run, one self-contained HTML file.

Read ``page`` (its sections), then ``overview`` (the first screen) and ``figures``, which has them
all by name (networks are placed by ``network_layout``). ``transcript`` shows who said what.
``drawing`` and ``templates`` (also how numbers are written) are shared with the pages of studies.
"""
