"""The importer of the Open Academic Graph (3.x, and the MAG or the AMiner side of 2.x)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.building.raw_records import RawRecord
from virsci_society.society.ecosystem.importers.files import Position, SourceFile, read_lines
from virsci_society.society.ecosystem.importers.formats.academic_json import AcademicJson
from virsci_society.society.ecosystem.importers.json_source import first_values
from virsci_society.society.ecosystem.importers.report import SkippedRecord
from virsci_society.society.ecosystem.importers.source import SourceEntry

PAPER_FIELDS = frozenset(("title", "authors", "year", "references", "abstract"))
AUTHOR_FIELDS = frozenset(("normalized_name", "last_known_aff_id", "pubs", "n_pubs", "tags"))
SIDES = ("mag_papers", "aminer_papers")


class OpenAcademicGraph(AcademicJson):
    """Publications as JSON lines; each file is recognised by its fields, not by its name.

    Files of authors, venues and affiliations may lie beside them: their lines are counted, and
    nothing of them is used, since they are not dated. A publication without an id is skipped.
    """

    kind = "oag"
    source_name = "Open Academic Graph"

    def _entries(self, start: Position) -> Generator[SourceEntry]:
        self._refuse_both_sides()
        return super()._entries(start)

    def _takes(self, file: SourceFile) -> bool:
        other = _other(file)
        if other:
            lines = sum(1 for line in read_lines(file) if line.data is None or line.data.strip())
            self.report.beside[f"{file.label}: {other}, not used"] = lines
        return not other

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        if row.get("id") in (None, ""):
            raise SkippedRecord("no id")
        return super()._paper(row)

    def _refuse_both_sides(self) -> None:
        names = [file.path.name.lower() for file in self.files]
        if all(any(name.startswith(side) for name in names) for side in SIDES):
            raise InputError(
                f"{self._where}: holds mag_papers and aminer_papers, the same papers under "
                "different ids; give the files of one side"
            )


def _other(file: SourceFile) -> str:
    """What a file holds, if its first lines show that they are no publications; else empty."""
    for value in first_values(file):
        if not isinstance(value, dict) or PAPER_FIELDS & value.keys():
            return ""
        if "name" in value:
            return "authors" if AUTHOR_FIELDS & value.keys() or "org" in value else "named things"
        if "DisplayName" in value:
            return "venues" if "JournalId" in value or "ConferenceId" in value else "affiliations"
    return ""
