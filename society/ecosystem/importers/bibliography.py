"""The importers of RIS and BibTeX, through the libraries of the extra ``bibliography``."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from itertools import chain
from typing import Any, ClassVar

from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import require_extra
from virsci_society.society.ecosystem.importers import fields
from virsci_society.society.ecosystem.importers.cleaning import plain
from virsci_society.society.ecosystem.importers.files import (
    LONGEST,
    NOT_UTF_8,
    open_text,
    other_layout,
    read_lines,
)
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.source import Columns, Source, SourceEntry

EXTRA = "bibliography"
END = re.compile(r"ER\s{0,2}-")
TAG = re.compile(r"\s*[A-Z][A-Z0-9]\s{0,2}-")
TY = re.compile(r"^\s*(?=TY\s{0,2}-)", re.MULTILINE)
ENCLOSED = re.compile(r"""\A\s*(["{])(.*)["}]\s*\Z""", re.DOTALL)
LAST = "\nER  - \n"
LOOKED_AT = 4096
"""Characters of a file by which its layout is recognised."""
DIGITS = re.compile(r"\d{4}")
AND = re.compile(r"\s+and\s+(?![^{]*\})")


def _person(written: str) -> RawAuthor:
    """A person as written: ``Lovelace, Ada`` is Ada Lovelace."""
    family, *rest = (part.strip() for part in written.split(","))
    return RawAuthor("", " ".join((*rest[-1:], family, *rest[:-1])))


def _year(row: Mapping[str, Any], _: str) -> int:
    dates = (row.get(name) for name in ("year", "publication_year", "date"))
    found = (DIGITS.search(str(date)) for date in dates if date)
    return fields.parse_year(next((one[0] for one in found if one), None))


class Ris(Source):
    """References in RIS, as Scopus, Web of Science, Zotero and other tools export them."""

    kind = "ris"
    endings = (".ris",)
    nothing_found = "no RIS: files ending in .ris, plain or packed"
    columns: ClassVar[Columns] = {
        "id": [
            ("accession_number", fields.parse_id),
            ("doi", fields.parse_id),
            ("id", fields.parse_id),
            ("place", fields.require_id),
        ],
        "title": [("title", fields.parse_text), ("primary_title", fields.require_title)],
        "abstract": [("abstract", fields.parse_text), ("notes_abstract", fields.parse_text)],
        "year": [("", _year)],
        "authors": [("people", lambda value, _: value)],
        "keywords": [("keywords", fields.parse_texts)],
        "venue": [
            (name, fields.parse_text)
            for name in ("secondary_title", "journal_name", "alternate_title3", "alternate_title1")
        ],
    }

    def _entries(self) -> Generator[SourceEntry]:
        require_extra(EXTRA, "rispy", "RIS needs rispy")
        for file in self.files:
            lines, start = [], 1
            # The last one may lack its end; of no lines it is none.
            for number, line in enumerate(chain(read_lines(file), [LAST]), start=1):
                if number == 1 and (what := other_layout(line, self.kind)):
                    raise InputError(f"{file.path}: {what}")
                lines.append(line)
                if END.match(line.lstrip()):
                    # Words behind the last reference are none.
                    begun = TY.search("".join(lines))
                    if begun or (line is not LAST and any(map(TAG.match, lines[:-1]))):
                        yield SourceEntry(file, start, (f"{file.label}:{start}", "".join(lines)))
                    lines, start = [], number + 1

    def _record(self, content: Any) -> RawRecord:
        import rispy

        place, text = content
        if NOT_UTF_8.search(text):
            raise ValueError("not UTF-8")
        try:
            # Some databases write a number or a link before a reference.
            begun = TY.search(text)
            (entry,) = rispy.loads(text[begun.end() :] if begun else text)
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(f"not a reference in RIS ({error!s:.60})") from error
        signed = [*entry.get("first_authors", ()), *entry.get("authors", ())]
        people = tuple(map(_person, dict.fromkeys(signed)))
        return self._from_columns(entry | {"people": people, "place": place})


class BibTex(Source):
    """Entries in BibTeX; LaTeX in their values is decoded, and braces are removed."""

    kind = "bibtex"
    endings = (".bib",)
    nothing_found = "no BibTeX: files ending in .bib, plain or packed"
    columns: ClassVar[Columns] = {
        "id": [("key", fields.require_id)],
        "title": [("title", fields.require_title)],
        "abstract": [("abstract", fields.parse_text)],
        "year": [("", _year)],
        "authors": [("people", lambda value, _: value)],
        "keywords": [("keywords", fields.parse_texts), ("keyword", fields.parse_texts)],
        "venue": [(name, fields.parse_text) for name in ("journal", "booktitle", "journaltitle")],
    }

    def _entries(self) -> Generator[SourceEntry]:
        require_extra(EXTRA, "bibtexparser", "BibTeX needs bibtexparser")
        import bibtexparser
        from bibtexparser.model import DuplicateBlockKeyBlock

        titles: dict[str, str] = {}
        for file in self.files:
            with open_text(file.path) as stream:
                text = stream.read(LONGEST + 1)
            if len(text) > LONGEST:
                raise InputError(f"{file.path}: longer than {LONGEST:,} characters; divide it")
            if what := other_layout(text[:LOOKED_AT], self.kind):
                raise InputError(f"{file.path}: {what}")
            library = bibtexparser.parse_string(NOT_UTF_8.sub("\ufffd", text))
            for block in library.blocks:
                again = isinstance(block, DuplicateBlockKeyBlock)
                block = block.ignore_error_block if again else block
                line = (block.start_line or 0) + 1
                if block in library.failed_blocks:
                    yield SourceEntry(file, line, ValueError("not an entry of BibTeX"))
                elif hasattr(block, "entry_type"):
                    row = {one.key.lower(): one.value for one in block.fields}
                    if again:  # the library leaves the marks around its values
                        row = {name: ENCLOSED.sub(r"\2", value) for name, value in row.items()}
                    # Scopus gives all papers of a name and year one key.
                    title = row.get("title", "").casefold()
                    same = titles.setdefault(block.key, title) == title
                    key = block.key if same else f"{block.key}:{line}"
                    yield SourceEntry(file, line, row | {"key": key})

    def _record(self, content: Any) -> RawRecord:
        written = AND.split(content["author"]) if content.get("author") else []
        row = {name: _decoded(value) for name, value in content.items()}
        people = tuple(_person(_decoded(one)) for one in written)
        return self._from_columns(row | {"people": people})


def _decoded(value: str) -> str:
    return plain(value).replace("{", "").replace("}", "")
