"""Building an ecosystem from the records of a source, in passes over the source.

Read ``builder`` (the passes in order) and ``build_options`` first; then the passes: ``outline``
(years, authors, references), ``filters`` (which papers and people are kept),
``kept_papers`` (their words), ``profiles`` (what scientists write about). What comes in are the
records of an importer (``importers.records``).

The folder is not called ``build`` because pytest and packaging tools skip folders of that name.
"""
