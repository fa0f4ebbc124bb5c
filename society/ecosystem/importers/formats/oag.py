"""Open Academic Graph: publications of 3.x, and the MAG or the AMiner side of 2.x."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from agents.errors import InputError
from society.ecosystem.importers.academic_json import AcademicJson
from society.ecosystem.importers.files import Found, Position, read_lines
from society.ecosystem.importers.json_source import first_values
from society.ecosystem.importers.reading import PassedOver
from society.ecosystem.importers.source import Entry
from society.ecosystem.records import RawRecord

PAPER_FIELDS = frozenset(("title", "authors", "year", "references", "abstract"))
AUTHOR_FIELDS = frozenset(("normalized_name", "last_known_aff_id", "pubs", "n_pubs", "tags"))
SIDES = ("mag_papers", "aminer_papers")


class OpenAcademicGraph(AcademicJson):
    """JSON lines of publications; each file is told by its own fields, not by its name.

    Authors', venues' and affiliations' files may lie beside them: their lines are counted, and
    nothing of them is used, since they are not dated. A publication without an id is passed over.
    """

    kind = "oag"
    describes = "Open Academic Graph"

    def _entries(self, start: Position) -> Generator[Entry]:
        self._refuse_both_sides()
        return super()._entries(start)

    def _takes(self, file: Found) -> bool:
        other = _other(file)
        if other:
            lines = sum(1 for line in read_lines(file) if line.data is None or line.data.strip())
            self.reading.beside[f"{file.label}: {other}, not used"] = lines
        return not other

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        if row.get("id") in (None, ""):
            raise PassedOver("no id")
        return super()._paper(row)

    def _refuse_both_sides(self) -> None:
        names = [file.path.name.lower() for file in self.files]
        if all(any(name.startswith(side) for name in names) for side in SIDES):
            raise InputError(
                f"{self._where}: holds mag_papers and aminer_papers, the same papers under "
                "different ids; give the files of one side"
            )


def _other(file: Found) -> str:
    """What a file holds, if its first lines say that they are no publications."""
    for value in first_values(file):
        if not isinstance(value, dict) or PAPER_FIELDS & value.keys():
            return ""
        if "name" in value:
            return "authors" if AUTHOR_FIELDS & value.keys() or "org" in value else "named things"
        if "DisplayName" in value:
            return "venues" if "JournalId" in value or "ConferenceId" in value else "affiliations"
    return ""
