"""The page of a run, one self-contained HTML file.

Read ``page`` (what is shown), then ``overview`` (the first screen) and ``sections`` (all others),
``timeline_figures``, ``network_figures`` (of a network placed by ``network_layout``) and
``figures``, which has them all by name. ``transcript`` shows who said what. ``drawing`` and
``templates`` (also how numbers are written) are shared with the pages of studies.
"""
