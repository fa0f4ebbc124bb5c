"""AMiner's network files: papers, authors, who wrote what, and who wrote with whom."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import zip_longest
from pathlib import Path

from agents.errors import InputError
from society.ecosystem.importers.aminer_blocks import (
    ABSTRACT,
    AUTHOR_TAGS,
    INDEX,
    PAPER_TAGS,
    Block,
    read_blocks,
)
from society.ecosystem.importers.aminer_ids import MALFORMED, RELATIONS, AuthorIds, author_ids
from society.ecosystem.importers.authorship import Signature
from society.ecosystem.importers.fields import needed_id, needed_title, text, texts, year
from society.ecosystem.importers.files import Found, Position, is_data, read_lines
from society.ecosystem.importers.source import Entry, Source
from society.ecosystem.records import RawAuthor, RawRecord

PAPERS, AUTHORS, PAIRS = "papers", "authors", "co-author pairs"
NAMES = (
    ("author2paper", RELATIONS),
    ("coauthor", PAIRS),
    ("author", AUTHORS),
    ("paper", PAPERS),
)
NOT_USED = "not used: over all years"
PAIR = re.compile(rb"#\d{1,18}\s+\d{1,18}\s+\d{1,18}")


class AMiner(Source):
    """AMiner-Paper.txt with AMiner-Author2Paper.txt; a file is known by its name.

    Papers name their authors; an author's id is the one that Author2Paper has for the paper and
    the place in its list. Where there is none, the rule for authors without an id holds.
    AMiner-Author.txt (counts, h-index and research terms) and AMiner-Coauthor.txt are over all
    years and would tell the future: they are read and counted, and nothing of them is used.
    """

    kind = "aminer"
    describes = "AMiner network"
    always_unknown = (
        "research terms, counts and co-authors of AMiner's author files are over all years and "
        "are not used",
    )
    nothing_found = "no AMiner-Paper.txt, plain or .gz"
    _ids: AuthorIds

    def wants(self, path: Path) -> bool:
        """Text files named by what they hold."""
        return is_data(path, ".txt") and any(part in path.name.lower() for part, _ in NAMES)

    def _entries(self, start: Position) -> Generator[Entry]:
        with author_ids(self._of(RELATIONS), self.reading) as self._ids:
            self._judge_relations()
            for number, file in enumerate(self.files):
                if number >= start.file and _holds(file) == PAPERS:
                    begin = start if number == start.file else Position(number)
                    for block in read_blocks(file, PAPER_TAGS, begin):
                        end = Position(number, block.lines, block.end)
                        yield Entry(file, block.line, end, block)
        self._count(AUTHORS, self._authors_told())
        self._count(PAIRS, self._pairs_told())

    def _record(self, content: Block) -> RawRecord:
        if content.wrong:
            raise ValueError(content.wrong)
        id_ = needed_id(content.one(INDEX))
        return RawRecord(
            id=id_,
            title=needed_title(content.one(b"#*")),
            abstract=text(" ".join(content.all(ABSTRACT)), "abstract"),
            year=year(content.one(b"#t")),
            authors=self._signed(content, id_),
            references=texts(content.all(b"#%"), "reference"),
            venue=text(content.one(b"#c"), "venue"),
        )

    def _signed(self, block: Block, paper: str) -> tuple[RawAuthor, ...]:
        names = _parts(block.one(b"#@"))
        places = _parts(block.one(b"#o"))
        # Unless there is one for each author, nobody can say whose they are.
        places = places if len(places) == len(names) else []
        ids = self._ids.of(paper)
        signed = (
            Signature(ids.get(at, ""), text(name, "author"), _known(place))
            for at, (name, place) in enumerate(zip_longest(names, places, fillvalue=""))
        )
        return self.authorship.authors(signed, self.reading)

    def _of(self, what: str) -> list[Found]:
        return [file for file in self.files if _holds(file) == what]

    def _judge_relations(self) -> None:
        found, malformed = (self.reading.beside.get(name, 0) for name in (RELATIONS, MALFORMED))
        if malformed > self.malformed_share * (found + malformed):
            told = "".join(f"\n  {line}" for line in self.reading.shown)
            raise InputError(
                f"{self._where}: {malformed:,} malformed relations beside {found:,}, more than the "
                f"share of {self.malformed_share:g} that is allowed; mend AMiner-Author2Paper.txt, "
                f"allow a larger share, or leave the file out{told}"
            )

    def _count(self, what: str, told: Iterator[tuple[str, bool]]) -> None:
        """Count what is well-formed in the files that are not used, and show what is not."""
        found = {True: 0, False: 0}
        for place, well_formed in told:
            found[well_formed] += 1
            if not well_formed:
                self.reading.show(place, f"malformed among the {what}")
        if found[True] or found[False]:
            self.reading.beside[f"{what}, {NOT_USED}"] = found[True]
            self.reading.beside[f"malformed {what}"] = found[False]

    def _authors_told(self) -> Iterator[tuple[str, bool]]:
        for file in self._of(AUTHORS):
            for block in read_blocks(file, AUTHOR_TAGS):
                complete = all(any(block.fields.get(tag, ())) for tag in (INDEX, b"#n"))
                yield f"{file.label}:line {block.line}", complete and not block.wrong

    def _pairs_told(self) -> Iterator[tuple[str, bool]]:
        for file in self._of(PAIRS):
            for line in read_lines(file):
                data = b"?" if line.data is None else line.data.strip()
                if data:
                    yield f"{file.label}:line {line.number}", bool(PAIR.fullmatch(data))


def _holds(file: Found) -> str:
    name = file.path.name.lower()
    return next((what for part, what in NAMES if part in name), PAPERS)


def _parts(value: str) -> list[str]:
    """The parts of a list with semicolons; empty ones keep their place, but one at the end."""
    return value.removesuffix(";").split(";") if value else []


def _known(place: str) -> str:
    known = text(place, "affiliation")
    return "" if known == "-" else known
