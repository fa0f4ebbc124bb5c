"""Importers, which read other people's data as streams of raw records without silent losses.

Read ``source`` first (what every importer does), then ``report`` (the counts of an import),
``files``, ``fields`` and ``authors`` (lines, values and identities), ``json_source`` (the base of
JSON formats), ``id_set`` (duplicates) and ``spool`` (an import that resumes). The folder
``formats`` has one file per format, and their table.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.ecosystem.importers.formats.registry import IMPORTERS as IMPORTERS
    from society.ecosystem.importers.formats.registry import open_source as open_source
    from society.ecosystem.importers.json_source import JsonSource as JsonSource
    from society.ecosystem.importers.report import ImportReport as ImportReport
    from society.ecosystem.importers.report import SkippedRecord as SkippedRecord
    from society.ecosystem.importers.source import Source as Source
    from society.ecosystem.importers.spool import Spool as Spool

__all__ = [
    "IMPORTERS",
    "ImportReport",
    "JsonSource",
    "SkippedRecord",
    "Source",
    "Spool",
    "open_source",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "IMPORTERS": "society.ecosystem.importers.formats.registry",
        "ImportReport": "society.ecosystem.importers.report",
        "JsonSource": "society.ecosystem.importers.json_source",
        "SkippedRecord": "society.ecosystem.importers.report",
        "Source": "society.ecosystem.importers.source",
        "Spool": "society.ecosystem.importers.spool",
        "open_source": "society.ecosystem.importers.formats.registry",
    },
)
