"""The files of a source, read with bounded memory as text, whatever packed or encoded them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from virsci_society.agents.errors import InputError

LONGEST = 64 * 2**20
"""Characters of the longest line or value that is read into memory."""
NOT_UTF_8 = re.compile("[\udc80-\udcff]")
"""Replacement of bytes that are not UTF-8."""
PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
"""First bytes of packed files -> what unpacks them."""
PACKED_ENDINGS = (".gz", ".bz2", ".xz")
UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
OTHERS = (
    (rb"PK\x03\x04.*", "a zip archive or Excel file: unpack it, or save the sheet as CSV"),
    (rb".{257}ustar", "a tar archive: unpack it with tar -xf"),
    (rb"7z\xbc\xaf|Rar!", "an archive: unpack it first"),
    (rb"\x28\xb5\x2f\xfd", "packed by zstd: unpack it with zstd -d"),
    (rb"PAR1", "Parquet: convert it with pandas, .to_json(FILE, orient='records', lines=True)"),
    (rb"\xff\xfe\0\0|\0\0\xfe\xff", "UTF-32: convert it with iconv -f UTF-32 -t UTF-8"),
    (rb"\x1f\x8b|BZh|\xfd7zXZ", "packed twice: unpack it once"),
    (rb"%PDF|\xd0\xcf\x11\xe0|SQLite format|RDX\d", "no text file: export the papers as CSV"),
    (rb"(?![^\0]\0|\0[^\0]|\xff\xfe|\xfe\xff).{0,280}\0", "no text file: export CSV or JSON lines"),
)
"""Beginnings of files that are not read, and what to do about them."""
LAYOUTS = (
    (r"<", "is a web page or XML, perhaps an error that was saved: download the data again"),
    (r"TY  ?-", "is RIS: build it as ris"),
    (r"@\w+\s*[{(]", "is BibTeX: build it as bibtex"),
    (r"FN |PT [A-Z]\s|PMID- |%0 |Record #\d", "is a tagged text export: export RIS or CSV instead"),
    (r"#(?:\*|index)", "is AMiner's text: build it as aminer"),
    (r"version https://git-lfs", "is a pointer of Git LFS: fetch the data with git lfs pull"),
    (r"(?i)insert into|create table|--", "is SQL: export the papers as CSV"),
    (r"\{\s*'", "contains Python dicts, not JSON: write each with json.dumps"),
    (r"(?![^{\[]*\n\s*[{\[])[^\s{\[][^\n{]*[,;\t|]", "is CSV: build it as csv"),
)
"""Beginnings of texts of another layout, and what to do about them."""


class SourceFile(NamedTuple):
    """A file of a source."""

    path: Path
    label: str


def find_files(paths: Iterable[Path], wanted: Callable[[Path], bool]) -> list[SourceFile]:
    """List given files, whatever their name, and the wanted files inside folders, each once."""

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be opened ({error.strerror})")

    by_path: dict[Path, SourceFile] = {}
    for source in paths:
        if source.is_dir():
            walked = os.walk(source, onerror=refuse)
            held = (Path(root, name) for root, _, names in walked for name in names)
            # Sorted, so that the same data give the same ecosystem on any disk.
            inside = sorted(path for path in held if wanted(path.relative_to(source)))
            files = [SourceFile(path, path.relative_to(source).as_posix()) for path in inside]
        elif source.exists():
            files = [SourceFile(source, source.name)]
        else:
            raise InputError(f"{source}: no such file or folder; give the path of the data")
        for file in files:
            # By the resolved path: a file that is given twice, or through a link, is read once.
            by_path.setdefault(file.path.resolve(), file)
    return list(by_path.values())


def is_data_file(path: Path, *endings: str) -> bool:
    """Whether a file name has one of the endings, compressed or not, and is not hidden."""
    name = path.name.lower()
    name = name.removesuffix(next(filter(name.endswith, PACKED_ENDINGS), ""))
    return name.endswith(endings) and not name.startswith((".", "_"))


@contextmanager
def open_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open a file as text, unpacked; InputError also for a damage that shows inside the block."""
    try:
        with path.open("rb") as raw:
            # By the ending, too: a .gz whose head is damaged is an error, and no text.
            ended = PACKED.get(b"\x1f\x8b") if path.suffix == ".gz" else None
            head = raw.peek(8)
            unpack = next((PACKED[mark] for mark in PACKED if head.startswith(mark)), ended)
            stream = unpack(raw) if unpack else raw
            head = stream.peek(300)
            for pattern, what in OTHERS:
                if re.match(pattern, head, re.DOTALL):
                    raise InputError(f"{path}: is {what}")
            wide = "utf-16-le" if re.match(rb"[^\0]\0[^\0]\0", head) else "utf-8-sig"
            encoding = UTF_16.get(head[:2], wide)
            yield io.TextIOWrapper(stream, encoding, errors="surrogateescape", newline="\n")
    except (OSError, EOFError, zlib.error, lzma.LZMAError, UnicodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); check that it is complete") from error


def other_layout(head: str, kind: str = "jsonl") -> str:
    """What a text is and how to read it, where it begins with another kind's layout; else empty."""
    head = head.lstrip()
    for pattern, what in LAYOUTS:
        if what.endswith(f"as {kind}"):
            # A comment or a link may precede the first reference of RIS and BibTeX.
            if kind != "csv" and re.search(rf"^\s*(?:{pattern})", head, re.MULTILINE):
                return ""
        elif re.match(pattern, head):
            return what
    return ""


def read_lines(file: SourceFile) -> Iterator[str]:
    """Read the lines of a file; those before a damage, then InputError."""
    with open_text(file.path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(LONGEST), ""), start=1):
            if len(line) == LONGEST:
                raise InputError(f"{file.path}: line {number} is longer than {LONGEST:,}")
            yield line
