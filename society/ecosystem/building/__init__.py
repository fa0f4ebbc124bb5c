"""Building an ecosystem from the records of a source, in passes over the source.

Read ``builder`` (the passes in order) and ``build_options`` first; then the passes: ``outline``
(years, authors, references), ``filters`` and ``scientists`` (which papers and people are kept),
``kept_papers`` (their words), ``profiles`` with ``terms`` (what scientists write about).
``raw_records`` is what every importer yields; ``evidence`` keeps what was counted, for the audit.

The folder is not called ``build`` because pytest and packaging tools skip folders of that name.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.ecosystem.building.build_options import PRESETS as PRESETS
    from society.ecosystem.building.build_options import BuildOptions as BuildOptions
    from society.ecosystem.building.build_options import BuildProgress as BuildProgress
    from society.ecosystem.building.builder import BuildResult as BuildResult
    from society.ecosystem.building.builder import build as build
    from society.ecosystem.building.builder import build_ecosystem as build_ecosystem
    from society.ecosystem.building.filters import PaperFilters as PaperFilters
    from society.ecosystem.building.raw_records import RawAuthor as RawAuthor
    from society.ecosystem.building.raw_records import RawRecord as RawRecord
    from society.ecosystem.building.scientists import PeopleFilters as PeopleFilters

__all__ = [
    "PRESETS",
    "BuildOptions",
    "BuildProgress",
    "BuildResult",
    "PaperFilters",
    "PeopleFilters",
    "RawAuthor",
    "RawRecord",
    "build",
    "build_ecosystem",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "BuildOptions": "society.ecosystem.building.build_options",
        "BuildProgress": "society.ecosystem.building.build_options",
        "BuildResult": "society.ecosystem.building.builder",
        "PRESETS": "society.ecosystem.building.build_options",
        "PaperFilters": "society.ecosystem.building.filters",
        "PeopleFilters": "society.ecosystem.building.scientists",
        "RawAuthor": "society.ecosystem.building.raw_records",
        "RawRecord": "society.ecosystem.building.raw_records",
        "build": "society.ecosystem.building.builder",
        "build_ecosystem": "society.ecosystem.building.builder",
    },
)
