"""The table of vectors: nothing is made twice, and what a kill has left is resumed."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.society.literature.embedding.base import CachedEmbedding
from virsci_society.society.literature.embedding.cache import (
    FILE,
    VARIABLE,
    VectorTable,
    _opened,
    vector_table,
)

ROOT = Path(__file__).parents[4]
ORIGIN = "letters@1"


class Letters(CachedEmbedding):
    """Rows that count letters; it notes what it has been asked."""

    name, revision, dim, origin = "letters", "1", 26, ORIGIN

    def __init__(self, broken_after=None):
        super().__init__()
        self.asked, self.broken_after = [], broken_after

    def _compute(self, texts):
        for start in range(0, len(texts), 10):
            if self.broken_after is not None and len(self.asked) >= self.broken_after:
                raise InputError("broken")
            some = texts[start : start + 10]
            self.asked += some
            rows = [[text.count(chr(97 + n)) for n in range(26)] for text in some]
            yield list(range(start, start + len(some))), np.array(rows, dtype=np.float32)

    def save(self, folder):
        raise NotImplementedError


def texts(count, start=0):
    return [f"text {chr(97 + n % 26) * (n // 26 + 1)}" for n in range(start, start + count)]


def rows_of(some):
    return np.array([[t.count(chr(97 + n)) for n in range(26)] for t in some], dtype=np.float32)


def bytes_of(some):
    return {text: row.tobytes() for text, row in zip(some, rows_of(some), strict=True)}


def count(folder):
    with closing(sqlite3.connect(folder / FILE)) as database:
        return database.execute("SELECT count(*) FROM vectors").fetchone()[0]


def test_what_is_kept_is_found_again_by_origin_and_text(kept):
    VectorTable(kept).put(ORIGIN, bytes_of(texts(30)))
    again = VectorTable(kept)
    assert {text: again.get(ORIGIN, text) for text in texts(30)} == bytes_of(texts(30))
    assert again.get(ORIGIN, "another text") is None
    assert again.get("letters@2", texts(1)[0]) is None
    assert count(kept) == 30


def test_a_corpus_is_asked_for_once():
    first, corpus = Letters(), [*texts(95), "", *texts(95)]
    told = []
    rows = first.encode(corpus, lambda *done: told.append(done))
    assert first.asked == texts(95)
    assert np.array_equal(rows, rows_of(corpus))
    assert told == [(96 + n, 191, 0) for n in (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95)]
    second, told = Letters(), []
    assert np.array_equal(second.encode(corpus, lambda *done: told.append(done)), rows)
    assert second.asked == []
    assert told == [(191, 191, 190)]


def test_what_was_answered_before_an_error_is_not_asked_again():
    broken, whole = Letters(broken_after=50), Letters()
    with pytest.raises(InputError, match="broken"):
        broken.encode(texts(95))
    rows = whole.encode(texts(95))
    assert broken.asked == texts(50)
    assert whole.asked == texts(45, 50)
    assert np.array_equal(rows, rows_of(texts(95)))


def test_a_damaged_row_is_made_again(kept):
    Letters().encode(texts(5))
    vector_table()._database.close()
    _opened.cache_clear()
    path = kept / FILE
    data = bytearray(path.read_bytes())
    data[data.index(rows_of(texts(1, 2)).tobytes()) + 7] ^= 1
    path.write_bytes(data)
    for asked in (texts(1, 2), []):
        embedding = Letters()
        assert np.array_equal(embedding.encode(texts(5)), rows_of(texts(5)))
        assert embedding.asked == asked


WRITER = """
import itertools, sys
from pathlib import Path
from virsci_society.society.literature.embedding.cache import VectorTable
table = VectorTable(Path(sys.argv[1]))
for number in itertools.count():
    table.put("killed", {f"{number} {row}": bytes([number % 256]) * 2000 for row in range(100)})
    print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_was_done_with(tmp_path):
    for kill in (0, 3):
        folder = tmp_path / str(kill)
        command = [sys.executable, "-c", WRITER, str(folder)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(3 + 5 * kill):
            done = int(writer.stdout.readline())
        time.sleep(0.0007 * kill)
        os.kill(writer.pid, signal.SIGKILL)
        done = max([done, *map(int, writer.communicate()[0].split())])
        table = VectorTable(folder)
        for number in range(done + 1):
            for row in (0, 99):
                assert table.get("killed", f"{number} {row}") == bytes([number % 256]) * 2000
        table.put("killed", {"after": b"7"})
        assert table.get("killed", "after") == b"7"


def test_a_folder_that_cannot_be_written_to_keeps_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    embedding = Letters()
    for _ in range(2):
        assert np.array_equal(embedding.encode(texts(5)), rows_of(texts(5)))
    # In this process no text is asked for twice all the same.
    assert embedding.asked == texts(5)
    assert not vector_table().kept


def test_other_files_are_told(kept):
    (kept / FILE).write_text("{" * 5000)
    with pytest.raises(InputError, match="not a table of vectors"):
        VectorTable(kept)
