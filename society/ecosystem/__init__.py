"""Ecosystems, the data that societies start from, on disk and in memory.

Read ``ecosystem`` first (papers, population, co-author counts and vectors at the boundary), then
``people`` and ``storage`` (its columns and files), ``knowledge_bank`` with ``interest_index``
(profiles that are searched by interests), ``interest_vocabulary`` (the interests that a prompt
shows) and ``summary`` (figures of an ecosystem). The folders make and check ecosystems:
``importers`` reads sources, ``building`` filters them, ``synthetic`` invents communities, ``audit``
looks for knowledge of the future.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.ecosystem.building.raw_records import RawAuthor as RawAuthor
    from society.ecosystem.building.raw_records import RawRecord as RawRecord
    from society.ecosystem.ecosystem import Ecosystem as Ecosystem
    from society.ecosystem.knowledge_bank import KnowledgeBank as KnowledgeBank
    from society.ecosystem.people import People as People
    from society.ecosystem.summary import describe as describe
    from society.ecosystem.summary import measure as measure

__all__ = [
    "Ecosystem",
    "KnowledgeBank",
    "People",
    "RawAuthor",
    "RawRecord",
    "describe",
    "measure",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Ecosystem": "society.ecosystem.ecosystem",
        "KnowledgeBank": "society.ecosystem.knowledge_bank",
        "People": "society.ecosystem.people",
        "RawAuthor": "society.ecosystem.building.raw_records",
        "RawRecord": "society.ecosystem.building.raw_records",
        "describe": "society.ecosystem.summary",
        "measure": "society.ecosystem.summary",
    },
)
