"""The importers of CSV, RIS and BibTeX, as databases and reference managers export them."""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, TextIO

from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import require_extra
from virsci_society.agents.spelling import did_you_mean
from virsci_society.society.ecosystem.importers import fields
from virsci_society.society.ecosystem.importers.cleaning import plain
from virsci_society.society.ecosystem.importers.files import (
    LONGEST,
    NOT_UTF_8,
    SourceFile,
    open_text,
    other_layout,
    read_lines,
)
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.source import Columns, Source, SourceEntry

EXPORTS = ("scopus", "wos")
"""Databases whose exports are recognised by their columns."""
USUAL: dict[str, tuple[str, ...]] = {
    "id": (
        *("eid", "ut (unique wos id)", "ut", "id", "publication id", "key", "lens id", "doi"),
        *("di", "paper_id"),
    ),
    "title": ("article title", "title", "ti", "document title", "display_name"),
    "abstract": ("abstract", "ab", "abstract note", "summary"),
    "year": ("publication year", "publication_year", "year", "py", "pubyear", "published", "date"),
    "authors": (
        *("author full names", "af", "authors", "author", "au", "author/s", "author names"),
        "authorships.author.display_name",
    ),
    "author_ids": ("author(s) id", "author ids", "author_ids", "authorships.author.id"),
    "affiliations": ("affiliations of authors",),
    # A column of references mostly contains citations, not ids.
    "references": ("reference_ids",),
    "keywords": ("author keywords", "de", "keywords"),
    "venue": ("source title", "so", "journal", "venue", "publication title", "conference"),
    "citations": (
        *("cited by", "times cited, all databases", "z9", "times cited", "n_citation"),
        *("citing works count", "cited_by_count", "citation_count", "citations"),
    ),
}
"""Every field, with usual names of its column in lower case, the best first."""
SEPARATORS = {"semicolon": ";", "comma": ",", "pipe": "|", "and": " and ", "slash": "/", "amp": "&"}
PAIR = re.compile(r'\s*(\w+)\s*=\s*("[^"]*"|[^,]*)\s*(?:,|$)')
WITH_ID = re.compile(r"(.*\S)\s*\((\d{5,})\)")


def parse_columns(text: str) -> dict[str, str]:
    """Parse ``title=Title,authors="Author names"``, or a database."""
    if text in ("", *EXPORTS):
        return {}
    pairs = {pair[1]: pair[2].strip('"') for pair in PAIR.finditer(text)}
    names = (*USUAL, "separator")
    wrong = [name for name in pairs if name not in names]
    if wrong or not pairs or PAIR.sub("", text).strip():
        near = did_you_mean(wrong[0], names) if wrong else ""
        raise InputError(
            f"--columns {text!r}: expected {', '.join(EXPORTS)}, or pairs such as "
            f"title=Title,year=Year with {', '.join(names)}{near}"
        )
    if pairs.get("separator", "comma") not in SEPARATORS:
        raise InputError(f"--columns: separator is one of {', '.join(SEPARATORS)}")
    return pairs


class CsvPapers(Source):
    """Papers as rows of a table with a header; columns that are not named are found by USUAL."""

    kind = "csv"
    endings = (".csv", ".tsv")
    nothing_found = "no CSV: files ending in .csv or .tsv, plain or packed, with a header"
    columns: ClassVar[Columns] = {
        "id": [("id", fields.require_id)],
        "title": [("title", fields.require_title)],
        "abstract": [("abstract", fields.parse_text)],
        "year": [("year", fields.parse_year)],
        "references": [("references", partial(fields.parse_texts, read=fields.parse_id))],
        "keywords": [("keywords", fields.parse_texts)],
        "venue": [("venue", fields.parse_text)],
        "citations": [("citations", fields.parse_count)],
        "authors": [("authors", lambda value, _: value)],
    }

    def __init__(
        self, paths: Path | str | Sequence[Path | str], *, columns: str = "", **options: Any
    ) -> None:
        super().__init__(paths, **options)
        self._given = parse_columns(columns)
        self._separator = SEPARATORS[self._given.pop("separator", "semicolon")]
        self._unsplit, self._split = 0, 0

    def _entries(self) -> Generator[SourceEntry]:
        self._unsplit = self._split = 0
        csv.field_size_limit(LONGEST)
        for file in self.files:
            with open_text(file.path) as stream:
                yield from self._rows(file, stream)
        if self._unsplit > self._split:
            raise InputError(
                f"{self._where}: authors are not separated by {self._separator!r}; name what "
                f"separates them: --columns separator={' or '.join(SEPARATORS)}"
            )

    def _rows(self, file: SourceFile, stream: TextIO) -> Generator[SourceEntry]:
        first, before = stream.readline(LONGEST), 0
        if "\r" in first[:-2]:
            raise InputError(
                f"{file.path}: has line ends of CR alone; convert them: tr '\\r' '\\n'"
            )
        # Excel writes the separator above the header, Dimensions a note on the export.
        if re.fullmatch(r"(?i)sep=.\s*", first) or re.fullmatch(r'"[^"]*",{2,}\s*', first):
            first, before = stream.readline(LONGEST), 1
        if what := other_layout(first, self.kind):
            raise InputError(f"{file.path}: {what}")
        if not first.strip():
            return
        delimiter = max(",;\t|", key=first.count)
        lines = chain([first], iter(partial(stream.readline, LONGEST), ""))
        rows = csv.reader(lines, delimiter=delimiter)
        try:
            header = [" ".join(name.split()) for name in next(rows)]
            places = self._places(header, file)
            for row in filter(any, rows):
                line = rows.line_num + before
                if len(row) < len(header) or any(row[len(header) :]):
                    fault = f"{len(row)} fields, and {len(header)} columns in the header"
                    if "Funding Text 1" in header:
                        fault += "; export it from Scopus again, without funding details"
                    yield SourceEntry(file, line, ValueError(fault))
                    continue
                cells = {name: row[column] for name, column in places.items()}
                if any(NOT_UTF_8.search(cell) for cell in cells.values()):
                    raise _not_utf_8(file)
                cells["id"] = cells.get("id", "").strip() or f"{file.label}:{line}"
                yield SourceEntry(file, line, cells)
        except csv.Error as error:
            raise InputError(f"{file.path}: is not readable as CSV ({error})") from error

    def _places(self, header: list[str], file: SourceFile) -> dict[str, int]:
        """The place of the column of every field that has one."""
        lower = {name.casefold(): index for index, name in reversed([*enumerate(header)])}
        places = {}
        for name, usual in USUAL.items():
            present = (heading for heading in usual if heading in lower)
            column = self._given.get(name, "").casefold() or next(present, "")
            if column and column not in lower:
                near = did_you_mean(self._given[name], header)
                raise InputError(
                    f"{file.path}: has no column {self._given[name]!r}{near}; it has "
                    f"{', '.join(header)}"
                )
            if column:
                places[name] = lower[column]
        if missing := {"title", "year"} - places.keys():
            raise InputError(
                f"{file.path}: no column for {' and '.join(sorted(missing))}; it has "
                f"{', '.join(header)}; name them: --columns title=COLUMN,year=COLUMN"
            )
        return places

    def _record(self, content: Any) -> RawRecord:
        written = content.get("authors", "")
        separator, given = self._separator, content.get("author_ids", "")
        if separator not in written:  # OpenAlex and others export another one
            separator = next(
                (mark for mark in fields.BETWEEN if mark in written.strip()), separator
            )
        ids = fields.parse_parts(given, separator if separator in given else ";")
        if separator not in written and len(ids) == written.count(",") + 1 > 1:
            separator = ","
        # A list in Python or JSON notation.
        listed = fields.parse_list(written, "authors") if fields.LISTED.match(written) else []
        names = [
            fields.parse_person(one) if isinstance(one, dict) else fields.parse_text(one, "author")
            for one in listed
        ] or fields.parse_parts(written, separator)
        places = fields.of_each(fields.parse_parts(content.get("affiliations", "")), names)
        if len(names) > 1:
            self._split += 1
        elif names and fields.UNSPLIT.search(written):
            self._unsplit += 1
        people = list[RawAuthor]()
        for name, id_, place in zip(names, fields.of_each(ids, names), places, strict=True):
            found = WITH_ID.fullmatch(name)
            name, id_ = (found[1], found[2]) if found else (name, id_)
            people.append(RawAuthor(id_, fields.parse_text(name, "author"), place))
        return self._from_columns(content | {"authors": tuple(people)})


def _not_utf_8(file: SourceFile) -> InputError:
    return InputError(
        f"{file.path}: is not UTF-8; save it as UTF-8, or convert it: "
        f"iconv -f WINDOWS-1252 -t UTF-8 {file.path.name}"
    )


EXTRA = "bibliography"
END = re.compile(r"ER\s{0,2}-")
TAG = re.compile(r"\s*[A-Z][A-Z0-9]\s{0,2}-")
TY = re.compile(r"^\s*(?=TY\s{0,2}-)", re.MULTILINE)
ENCLOSED = re.compile(r"""\A\s*(["{])(.*)["}]\s*\Z""", re.DOTALL)
SECOND_LINE = re.compile(rf"(?m)^(A[U\d] .*(?:,\s*?\n|\n(?=[^,\n]+$)))(?!{TAG.pattern}|\s*$)\s*")
"""A person's name that goes on; with a comma of its own, a line is another person."""
LAST = "\nER  - \n"
TAG_LINE = re.compile(r"^([A-Z][A-Z0-9]) -[ ]?", re.MULTILINE)
LOOKED_AT = 4096
"""Characters of a file by which its layout is recognised."""
LINES_LOOKED_AT = 20
DIGITS = re.compile(r"\d{4}")
AND = re.compile(r"(?:\s+and\s+|;\s+|;$)(?![^{]*\})", re.I)
SUFFIX = re.compile(r"(?i)[js]r\.?|i{1,3}|iv|ph\.? ?d\.?|m\.? ?d\.?")
NO_COMMA = re.compile(r"[}\"]\s*(\w+)\s*=\s*[{\"]")


def _person(written: str) -> RawAuthor:
    """A person as written: ``Lovelace, Ada`` is Ada Lovelace."""
    if written.startswith("{") and written.endswith("}"):  # an organization
        return RawAuthor("", plain(written).strip("{}"))
    written = plain(written).replace("{", "").replace("}", "")
    family, *rest = filter(None, (part.strip() for part in written.split(",")))
    # The suffix is in the middle in BibTeX, and last in RIS.
    first, *suffix = sorted(rest, key=lambda part: bool(SUFFIX.fullmatch(part))) or [""]
    if " & " in written or len(suffix) > 1 or not all(map(SUFFIX.fullmatch, suffix)):
        raise ValueError(f"{written!r:.40} names several people; write 'and' between them")
    return RawAuthor("", " ".join(filter(None, (first, family, *suffix))))


def _year(row: Mapping[str, Any], _: str) -> int:
    dates = (row.get(name) for name in ("year", "publication_year", "date"))
    years = (DIGITS.search(str(date)) for date in dates if date)
    return fields.parse_year(next((match[0] for match in years if match), None))


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
            lines, start = list[str](), 1
            left = read_lines(file)
            head = [*islice(left, LINES_LOOKED_AT)]
            if what := other_layout("".join(head), self.kind):
                raise InputError(f"{file.path}: {what}")
            # The last reference may lack its end; without lines there is none.
            for number, line in enumerate(chain(head, left, [LAST]), start=1):
                # Some programs omit the end of a record.
                if TY.match(line) and any(map(TY.match, lines)):
                    yield SourceEntry(
                        file, start, (f"{file.label}:{start}", "".join([*lines, LAST]))
                    )
                    lines, start = [], number
                lines.append(line)
                if END.match(line.lstrip()):
                    # Text after the last reference is ignored.
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
            text = text[begun.end() :] if begun else text
            text = TAG_LINE.sub(r"\1  - ", text) if text.startswith("TY -") else text
            (entry,) = rispy.loads(SECOND_LINE.sub(lambda name: f"{name[1].rstrip()} ", text))
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(f"not an RIS reference ({error!s:.60})") from error
        signed = [*entry.get("first_authors", ()), *entry.get("authors", ())]
        signed = [name for one in signed for name in AND.split(one) if name.strip()]
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
            if NOT_UTF_8.search(text):
                raise _not_utf_8(file)
            library = bibtexparser.parse_string(text)
            for block in library.blocks:
                again = isinstance(block, DuplicateBlockKeyBlock)
                block = block.ignore_error_block if again else block
                line = (block.start_line or 0) + 1
                if block in library.failed_blocks:
                    yield SourceEntry(file, line, ValueError("not a BibTeX entry"))
                elif hasattr(block, "entry_type"):
                    row = {field.key.lower(): field.value for field in block.fields}
                    if again:  # the library leaves the marks around its values
                        row = {name: ENCLOSED.sub(r"\2", value) for name, value in row.items()}
                    # Scopus gives all papers of a name and year one key.
                    title = row.get("title", "").casefold()
                    same = titles.setdefault(block.key, title) == title
                    key = block.key if same else f"{block.key}:{line}"
                    yield SourceEntry(file, line, row | {"key": key})

    def _record(self, content: Any) -> RawRecord:
        if missing := next(filter(None, map(NO_COMMA.search, content.values())), None):
            raise ValueError(f"a comma is missing before {missing[1]}")
        written = AND.split(content["author"]) if content.get("author") else []
        row = {
            name: plain(value).replace("{", "").replace("}", "") for name, value in content.items()
        }
        people = tuple(_person(author.strip()) for author in written if author.strip())
        return self._from_columns(row | {"people": people})
