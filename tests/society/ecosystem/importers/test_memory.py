"""Memory does not grow with the length of a source, but for eight bytes an id (see ``IdSet``).

The latest 65,536 ids are a plain set of hashes, about 90 bytes each; that is allowed for.
"""

import json
import tracemalloc

import pytest

from tests.society.ecosystem.importers.foreign_files import openalex_work, put
from virsci_society.society.ecosystem.build import RawCorpus
from virsci_society.society.ecosystem.importers.source import open_source

pytestmark = pytest.mark.usefixtures("collected")

FEW, MANY = 500, 2_000
BYTES_AN_ID = 110
SLACK = 400_000


def row(number):
    """A paper of half a kilobyte."""
    title = f"Paper {number}"
    return {"id": f"p{number}", "title": title, "year": 2000, "abstract": "word " * 80}


def jsonl(count):
    return {"p.jsonl": "".join(json.dumps(row(n)) + "\n" for n in range(count))}


def dblp(count):
    return {"d.json": "[\n" + "\n,".join(json.dumps(row(n)) for n in range(count)) + "\n]\n"}


def oag(count):
    return {"mag_papers_0.txt": jsonl(count)["p.jsonl"]}


def openalex(count):
    works = (json.dumps(openalex_work(n)) for n in range(count))
    return {"works/updated_date=2024-01-01/part_000.gz": "\n".join(works)}


def aminer(count):
    papers = (f"#index {n}\n#* T {n}\n#@ A;B\n#t 2000\n#! {'word ' * 80}\n\n" for n in range(count))
    relations = (f"{n}\t{n % 99}\t{n}\t1\n" for n in range(count))
    return {"AMiner-Paper.txt": "".join(papers), "AMiner-Author2Paper.txt": "".join(relations)}


def virsci(count):
    return {f"{n}.txt": repr(row(n) | {"authors": []}) for n in range(count)}


def peak(source):
    """The most bytes that were held while a source was read."""
    list(source.files)
    tracemalloc.start()
    count = sum(1 for _ in source)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return count, most


@pytest.mark.sweep(3)
@pytest.mark.parametrize("write", [jsonl, dblp, oag, openalex, aminer, virsci])
def test_the_peak_does_not_depend_on_the_length_of_the_file(write, tmp_path):
    kind = write.__name__
    _, warm = peak(open_source(kind, put(tmp_path / "warm", write(50))))
    few, low = peak(open_source(kind, put(tmp_path / "few", write(FEW))))
    many, high = peak(open_source(kind, put(tmp_path / "many", write(MANY))))
    assert (few, many) == (FEW, MANY)
    assert high - low < (MANY - FEW) * BYTES_AN_ID + SLACK
    assert warm < 10_000_000


@pytest.mark.slow
def test_of_a_corpus_the_words_are_not_in_memory(tmp_path):
    def most(count):
        source = open_source("jsonl", put(tmp_path / f"{count}", jsonl(count)))
        list(source.files)
        tracemalloc.start()
        assert len(RawCorpus.read(source, 2010, tmp_path / f"{count}.parquet")) == count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    most(500)
    low, high = most(4000), most(12_000)
    assert high - low < 8000 * BYTES_AN_ID + SLACK
