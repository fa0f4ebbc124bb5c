"""The importer of AMiner's text files, blocks of lines with a tag each."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.fields import (
    of_each,
    parse_parts,
    parse_text,
    parse_texts,
    parse_year,
    require_id,
    require_title,
)
from virsci_society.society.ecosystem.importers.files import NOT_UTF_8, SourceFile, read_lines
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.source import Source, SourceEntry

if TYPE_CHECKING:
    from virsci_society.agents.arrays import IntArray

INDEX, TITLE, ABSTRACT, AUTHORS_TAG = "#index", "#*", "#!", "#@"
YEAR, VENUE, REFERENCE = "#t", "#c", "#%"
TAGS = (INDEX, TITLE, AUTHORS_TAG, "#o", YEAR, VENUE, REFERENCE, ABSTRACT)
GLUED = re.compile(r"#(index|citation|arnetid|year|conf|[*@tc%!o])")
"""The tags of the citation network, whose values follow without a blank."""
SAME = {"#year": YEAR, "#conf": VENUE}
OUT_OF_STEP = (
    "titles, authors and years would go to the wrong papers; give each file one layout, in which "
    "every block begins with the same tag"
)


@dataclass
class AMinerRecord:
    """One block of a text file: its first line, the values of its tags, and its error."""

    line: int
    values: dict[str, list[str]] = field(default_factory=dict)
    problem: str = ""
    latest: str = ""

    def value(self, tag: str) -> str:
        """The value of a tag, empty if missing."""
        return self.values.get(tag, [""])[0]


def read_blocks(file: SourceFile) -> Iterator[AMinerRecord]:
    """Read the blocks of a file; InputError if titles would be assigned to neighbours."""
    block: AMinerRecord | None = None
    opener, glued, blank = "", False, False
    for number, line in enumerate(map(str.strip, read_lines(file)), start=1):
        if not line:
            blank = True
            continue
        tag, _, value = line.replace("\t", " ").partition(" ")
        match = GLUED.match(line)
        if not opener and match and match[0] in (INDEX, TITLE):
            opener, glued = match[0], tag != match[0]
        if glued:
            tag, value = (match[0], line[match.end() :]) if match else ("", line)
            tag = SAME.get(tag, tag)
        elif tag not in TAGS:
            tag, value = "", line
        # A title that does not follow the first tag belongs to the next paper.
        late = (
            tag == TITLE != opener and block and block.latest != INDEX and TITLE not in block.values
        )
        if (tag in (INDEX, TITLE) and tag != opener and blank and block) or late:
            raise InputError(
                f"{file.path}: line {number}: {tag} begins a block in a file whose blocks begin "
                f"with {opener}; {OUT_OF_STEP}"
            )
        if tag and tag == opener:
            if block is not None:
                yield _in_step(block, opener, file)
            block = AMinerRecord(number)
        elif block is None and not line.isdigit():
            block = AMinerRecord(number, problem=f"does not begin with {INDEX} or {TITLE}")
        blank = False
        if block is None or block.problem:
            continue
        if NOT_UTF_8.search(line):
            block.problem = f"line {number}: not UTF-8"
        elif not tag and block.latest == ABSTRACT:
            block.values[ABSTRACT].append(value)
        elif not tag:
            block.problem = f"line {number}: begins with none of the tags"
        elif tag in block.values and tag != REFERENCE:
            block.problem = f"line {number}: a second {tag}"
        else:
            block.values.setdefault(tag, []).append(value.strip())
            block.latest = tag
    if block is not None:
        yield _in_step(block, opener, file)


def _in_step(block: AMinerRecord, opener: str, file: SourceFile) -> AMinerRecord:
    if opener == TITLE and not block.problem and INDEX not in block.values:
        raise InputError(f"{file.path}: line {block.line}: no #index in a block; {OUT_OF_STEP}")
    return block


class AuthorIds:
    """Author ids by paper and position in its list of authors; the first relation counts."""

    def __init__(self, relations: Iterable[tuple[int, int, int]]) -> None:
        import numpy as np

        rows = np.fromiter(chain.from_iterable(relations), np.int64).reshape(-1, 3)
        # Stable: relations of the same paper and place keep the order of the files.
        self._rows: IntArray = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        # Positions count from 0 if any relation has it, else from 1: releases do either.
        self._first = min(1, int(rows[:, 1].min(initial=1)))

    def of_paper(self, paper: str) -> dict[int, str]:
        """The known author ids of a paper by position."""
        if not (paper.isascii() and paper.isdigit() and len(paper) < 19):
            return {}
        low, high = self._rows[:, 0].searchsorted([int(paper), int(paper) + 1])
        # Backwards, because the last value of a key stays in a dictionary.
        rows = self._rows[low:high][::-1].tolist()
        return {position - self._first: str(author) for _, position, author in rows}


NAMES = ("author2paper", "coauthor", "author", "paper")
"""Parts of the names of the release's files that identify them, in this order."""


class AMiner(Source):
    """AMiner-Paper.txt with AMiner-Author2Paper.txt; other files would reveal the future."""

    kind = "aminer"
    never_known = (
        "research terms, counts and co-authors of AMiner's author files are over all years and "
        "are not used",
    )
    endings = (".txt",)
    nothing_found = "no AMiner-Paper.txt or citation-network text, plain or packed"
    _ids: AuthorIds

    def wants(self, path: Path) -> bool:
        """Whether a text file's name is one of the release."""
        return super().wants(path) and any(part in path.name.lower() for part in NAMES)

    def _entries(self) -> Generator[SourceEntry]:
        self._ids = AuthorIds(self._relations())
        for file in self._of("paper"):
            for block in read_blocks(file):
                yield SourceEntry(file, block.line, block)
        for file in self._of("author", "coauthor"):
            self.report.unused.append(f"{file.label}: over all years")

    def _relations(self) -> Iterator[tuple[int, int, int]]:
        """Paper, place and author of each well-formed relation; the others are counted."""
        relations = malformed = 0
        for file in self._of("author2paper"):
            for number, line in enumerate(read_lines(file), start=1):
                words = line.split()
                if len(words) == 4 and all(word.isdecimal() and len(word) < 19 for word in words):
                    _, author, paper, position = map(int, words)
                    relations += 1
                    yield paper, position, author
                elif words:
                    malformed += 1
                    self.report.add_example(f"{file.label}:line {number}", "not four numbers")
        # Before any paper is read: invalid relations would assign wrong authors to all.
        if malformed > self.malformed_share * (relations + malformed):
            examples = "".join(f"\n  {line}" for line in self.report.shown)
            raise InputError(
                f"{self._where}: {malformed:,} malformed relations beside {relations:,}, more than "
                f"the share of {self.malformed_share:g} that is allowed; fix "
                f"AMiner-Author2Paper.txt, allow a larger share, or leave the file out{examples}"
            )

    def _record(self, content: AMinerRecord) -> RawRecord:
        if content.problem:
            raise ValueError(content.problem)
        id_, written = require_id(content.value(INDEX)), content.value(AUTHORS_TAG)
        names = parse_parts(written) if ";" in written else written.split(",")
        places = of_each(parse_parts(content.value("#o")), names)
        ids = self._ids.of_paper(id_)
        authors = tuple(
            RawAuthor(ids.get(at, ""), parse_text(name, "author"), parse_text(place, "affiliation"))
            for at, (name, place) in enumerate(zip(names, places, strict=True))
        )
        return RawRecord(
            id=id_,
            title=require_title(content.value(TITLE)),
            abstract=parse_text(" ".join(content.values.get(ABSTRACT, ())), "abstract"),
            year=parse_year(content.value(YEAR)),
            authors=authors,
            references=parse_texts(content.values.get(REFERENCE, []), "reference"),
            venue=parse_text(content.value(VENUE), "venue"),
        )

    def _of(self, *kinds: str) -> list[SourceFile]:
        """The files of some kinds, by name; any other name means papers."""
        parts = ((file, file.path.name.lower()) for file in self.files)
        return [
            file
            for file, name in parts
            if next((part for part in NAMES if part in name), "paper") in kinds
        ]
