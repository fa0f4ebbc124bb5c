"""The formats that can be imported, one file each; ``registry`` is the table of them.

To add one, subclass ``Source`` or ``JsonSource`` and add it to the table. ``jsonl`` is the shortest
example.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.ecosystem.importers.formats.academic_json import Dblp as Dblp
    from society.ecosystem.importers.formats.aminer import AMiner as AMiner
    from society.ecosystem.importers.formats.jsonl import JsonLines as JsonLines
    from society.ecosystem.importers.formats.oag import OpenAcademicGraph as OpenAcademicGraph
    from society.ecosystem.importers.formats.openalex import OpenAlex as OpenAlex
    from society.ecosystem.importers.formats.virsci import VirSciFiles as VirSciFiles

__all__ = [
    "AMiner",
    "Dblp",
    "JsonLines",
    "OpenAcademicGraph",
    "OpenAlex",
    "VirSciFiles",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "AMiner": "society.ecosystem.importers.formats.aminer",
        "Dblp": "society.ecosystem.importers.formats.academic_json",
        "JsonLines": "society.ecosystem.importers.formats.jsonl",
        "OpenAcademicGraph": "society.ecosystem.importers.formats.oag",
        "OpenAlex": "society.ecosystem.importers.formats.openalex",
        "VirSciFiles": "society.ecosystem.importers.formats.virsci",
    },
)
