"""Blocks of AMiner's text files: ``#index`` opens one, each further line is a tagged field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from society.ecosystem.importers.files import LONGEST, Found, Line, Position, read_lines

INDEX = b"#index"
ABSTRACT = b"#!"
PAPER_TAGS = (b"#*", b"#@", b"#o", b"#t", b"#c", b"#%", ABSTRACT)
AUTHOR_TAGS = (b"#n", b"#a", b"#pc", b"#cn", b"#hi", b"#pi", b"#upi", b"#t")
REPEATED = (b"#%",)


@dataclass
class Block:
    """One record as its lines have it.

    Attributes:
        line: number of its first line.
        fields: tag -> the values under it, undecoded.
        end: bytes of the file up to its end; ``lines`` of the file likewise.
        wrong: what is wrong with it, or empty.
    """

    line: int
    fields: dict[bytes, list[bytes]] = field(default_factory=dict)
    end: int = 0
    lines: int = 0
    wrong: str = ""
    _latest: bytes = b""
    _size: int = 0

    def take(self, line: Line, tags: tuple[bytes, ...]) -> None:
        """Add a line; what does not fit leaves the block wrong, and the line is dropped."""
        self.end, self.lines = line.end, line.number
        self._size += line.end - line.start
        if line.data is None or self._size > LONGEST:
            self.fields.clear()
            self.wrong = f"longer than {LONGEST:,} bytes"
        elif not self.wrong and (data := line.data.strip()):
            self._sort_in(data, line.number, tags)

    def _sort_in(self, data: bytes, number: int, tags: tuple[bytes, ...]) -> None:
        tag, _, value = data.replace(b"\t", b" ").partition(b" ")
        if tag in (INDEX, *tags):
            values = self.fields.setdefault(tag, [])
            values.append(value.strip())
            self._latest = tag
            if len(values) > 1 and tag not in REPEATED:
                self.wrong = f"line {number}: a second {tag.decode()}"
        elif self._latest == ABSTRACT:
            self.fields[ABSTRACT].append(data)
        else:
            self.wrong = f"line {number}: begins with none of the tags"

    def one(self, tag: bytes) -> str:
        """The value under a tag, empty where there is none; ValueError if it is not UTF-8."""
        return self.all(tag)[0] if tag in self.fields else ""

    def all(self, tag: bytes) -> list[str]:
        """The values under a tag."""
        try:
            return [value.decode("utf-8") for value in self.fields.get(tag, [])]
        except UnicodeDecodeError as error:
            raise ValueError(f"{tag.decode()} is not UTF-8") from error


def read_blocks(
    file: Found, tags: tuple[bytes, ...], start: Position | None = None
) -> Iterator[Block]:
    """The blocks of a file from a place on, each with the lines up to the next ``#index``.

    Blank lines separate nothing; lines before the first ``#index`` are a block that is wrong.
    """
    block: Block | None = None
    for line in read_lines(file, start):
        data = line.data or b"?"
        if _opens(data):
            if block is not None:
                yield block
            block = Block(line.number)
        elif block is None and data.strip():
            block = Block(line.number, wrong="does not begin with #index")
        if block is not None:
            block.take(line, tags)
    if block is not None:
        yield block


def _opens(data: bytes) -> bool:
    return data.startswith(INDEX) and not data[len(INDEX) : len(INDEX) + 1].strip()
