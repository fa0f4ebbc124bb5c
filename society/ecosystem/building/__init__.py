"""Building an ecosystem from the records of a source.

Read ``builder`` (the steps in order) and ``build_options`` first; then ``corpus`` (the records in
columns), ``filters`` (which papers and people are kept) and ``profiles`` (what scientists write
about). What comes in are the records of an importer (``importers.records``).

The folder is not called ``build`` because pytest and packaging tools skip folders of that name.
"""
