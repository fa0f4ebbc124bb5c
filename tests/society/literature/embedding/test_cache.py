"""The cache of rows: nothing is made twice, and what a kill has left is resumed."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.agents.errors import InputError
from virsci_society.society.literature.embedding.base import MEMO, CachedEmbedding
from virsci_society.society.literature.embedding.cache import FILE, EmbeddingCache

ROOT = Path(__file__).parents[4]
ORIGIN = "letters@1"


class Letters(CachedEmbedding):
    """Rows that count letters; it notes what it has been asked."""

    name, revision, dim, origin = "letters", "1", 26, ORIGIN

    def __init__(self, broken_after=None, query_prompt=""):
        super().__init__(query_prompt)
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


def test_what_is_kept_is_found_again_also_by_another_process(tmp_path):
    rows = rows_of(texts(30))
    with EmbeddingCache(tmp_path) as cache:
        shelf = cache.partition(ORIGIN)
        shelf.add(texts(30), rows)
        assert len(shelf) == 30
    with EmbeddingCache(tmp_path) as cache:
        shelf = cache.partition(ORIGIN)
        assert all(
            np.array_equal(shelf.get(text), row) for text, row in zip(texts(30), rows, strict=True)
        )
        assert shelf.get("another text") is None
        assert cache.partition("letters@2").get(texts(1)[0]) is None


def test_a_corpus_is_asked_for_once(tmp_path):
    first, corpus = Letters(), [*texts(95), "", *texts(95)]
    told = []
    with EmbeddingCache(tmp_path) as cache:
        rows = first.encode_all(corpus, cache=cache, progress=lambda *done: told.append(done))
        assert first.asked == texts(95)
        assert np.array_equal(rows, rows_of([*texts(95), "", *texts(95)]))
        assert told == [(191, 191)]
    second = Letters()
    with EmbeddingCache(tmp_path) as cache:
        assert np.array_equal(second.encode_all(corpus, cache=cache), rows)
    assert second.asked == []


def test_what_was_answered_before_an_error_is_not_asked_again(tmp_path):
    broken, whole = Letters(broken_after=50), Letters()
    with EmbeddingCache(tmp_path) as cache:
        with pytest.raises(InputError, match="broken"):
            broken.encode_all(texts(95), cache=cache)
        rows = whole.encode_all(texts(95), cache=cache)
    assert broken.asked == texts(50)
    assert whole.asked == texts(45, 50)
    assert np.array_equal(rows, rows_of(texts(95)))


def test_rows_go_where_they_are_wanted(tmp_path):
    path = tmp_path / "rows.npy"
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(40, 26))
    Letters().encode_all(texts(40), out=out)
    out.flush()
    assert np.array_equal(np.load(path), rows_of(texts(40)))
    with pytest.raises(ValueError, match="expected"):
        Letters().encode_all(texts(3), out=np.zeros((3, 25), dtype=np.float32))


@settings(max_examples=40, deadline=None)
@given(share=st.floats(0, 1), more=st.binary(max_size=50), kept=st.booleans())
def test_a_tail_cut_anywhere_is_dropped_and_made_again(tmp_path_factory, share, more, kept):
    """Of the log of a writer that was killed, at any byte, with or without bytes behind it."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("cache")
    with EmbeddingCache(source) as cache:
        for start in (0, 10):
            cache.partition(ORIGIN).add(texts(10, start), rows_of(texts(10, start)))
        for path in source.iterdir():
            shutil.copy(path, folder)
    log = folder / f"{FILE}-wal"
    data = log.read_bytes()
    cut = int(share * len(data))
    log.write_bytes(data if kept else data[:cut] + more)
    embedding = Letters()
    for _ in range(2):
        with EmbeddingCache(folder) as cache:
            assert np.array_equal(embedding.encode_all(texts(30), cache=cache), rows_of(texts(30)))
        assert set(texts(10, 20)) <= set(embedding.asked)
        # A batch is there whole or not at all, and its loss costs no earlier one.
        assert len(embedding.asked) == len(set(embedding.asked))
        assert len(embedding.asked) % 10 == 0
    assert not kept or len(embedding.asked) == 10
    with EmbeddingCache(folder) as cache:
        assert len(cache.partition(ORIGIN)) == 30


def test_a_damaged_row_is_made_again(tmp_path):
    with EmbeddingCache(tmp_path) as cache:
        cache.partition(ORIGIN).add(texts(5), rows_of(texts(5)))
    path = tmp_path / FILE
    data = bytearray(path.read_bytes())
    data[data.index(rows_of(texts(1, 2)).tobytes()) + 7] ^= 1
    path.write_bytes(data)
    for asked in (texts(1, 2), []):
        embedding = Letters()
        with EmbeddingCache(tmp_path) as cache:
            assert np.array_equal(embedding.encode_all(texts(5), cache=cache), rows_of(texts(5)))
        assert embedding.asked == asked


WRITER = """
import itertools, sys
import numpy as np
from virsci_society import EmbeddingCache
shelf = EmbeddingCache(sys.argv[1]).partition("killed")
for number in itertools.count():
    rows = np.full((100, 500), number, dtype=np.float32)
    shelf.add([f"{number} {row}" for row in range(100)], rows)
    print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_was_done_with(tmp_path):
    for kill in (0, 3):
        command = [sys.executable, "-c", WRITER, str(tmp_path / str(kill))]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(3 + 5 * kill):
            done = int(writer.stdout.readline())
        time.sleep(0.0007 * kill)
        os.kill(writer.pid, signal.SIGKILL)
        done = max([done, *map(int, writer.communicate()[0].split())])
        with EmbeddingCache(tmp_path / str(kill)) as cache:
            shelf = cache.partition("killed")
            for number in range(done + 1):
                for row in (0, 99):
                    assert (shelf.get(f"{number} {row}") == number).all()
            shelf.add(["after"], np.full((1, 500), 7.0, dtype=np.float32))
            assert (shelf.get("after") == 7.0).all()


def test_one_process_at_a_time_has_it(tmp_path):
    with EmbeddingCache(tmp_path):
        code = (
            f"from virsci_society.society.literature.embedding.cache import "
            f"EmbeddingCache as C; C({str(tmp_path)!r})"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
        )
        assert "another process is embedding into it" in done.stderr
    EmbeddingCache(tmp_path).close()


def test_rows_of_another_length_are_refused(tmp_path):
    with EmbeddingCache(tmp_path) as cache:
        cache.partition(ORIGIN).add(["a"], np.ones((1, 4), dtype=np.float32))
        with pytest.raises(InputError, match="rows of length 5"):
            cache.partition(ORIGIN).add(["b"], np.ones((1, 5), dtype=np.float32))


def test_other_files_are_told(tmp_path):
    (tmp_path / FILE).write_text("{" * 5000)
    with pytest.raises(InputError, match="not a cache"):
        EmbeddingCache(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        EmbeddingCache(tmp_path / "file")


def test_texts_with_halves_of_characters_are_texts(tmp_path):
    with EmbeddingCache(tmp_path) as cache:
        cache.partition(ORIGIN).add(["\ud800", "?"], np.eye(2, dtype=np.float32))
        assert np.array_equal(cache.partition(ORIGIN).get("\ud800"), [1, 0])


def test_the_last_texts_are_remembered_in_memory():
    embedding = Letters()
    for text in texts(MEMO + 10):
        embedding.encode([text])
    assert len(embedding.asked) == MEMO + 10
    embedding.encode(texts(5, MEMO))
    assert len(embedding.asked) == MEMO + 10
    embedding.encode(texts(1))
    assert len(embedding.asked) == MEMO + 11
