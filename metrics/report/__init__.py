"""The page of a run, one self-contained HTML file.

Read ``page`` (what is shown, the first screen first), then ``people_and_papers`` and ``sections``
(data of single sections), ``timeline_figures``, ``network_figures`` (of a network
placed by ``network_layout``) and ``figures``, which has them all by name. The folder
``drawing`` and ``templates`` (also how numbers are written) are shared with the pages of studies.
"""
