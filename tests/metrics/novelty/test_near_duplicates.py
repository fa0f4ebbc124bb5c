"""Near-duplicate papers: planted copies are found, in a run and in an archive of agents."""

import json

import numpy as np
import pytest

from benchmarks.facts import corpus_near_duplicates
from tests.command_line import society
from tests.metrics.facts.corpora import generator
from virsci_society.metrics.novelty.near_duplicates import (
    cosine_to_earlier,
    near_duplicates,
    resemblance_to_earlier,
)
from virsci_society.metrics.registry import measure_run
from virsci_society.society.ecosystem.ecosystem import Ecosystem


def test_resemblance_is_the_jaccard_index_of_three_words_in_a_row():
    """Of 4 and 3 runs of three words 2 are shared, so 2 / 5; the third text equals the first."""
    texts = [
        "one two three four five six",
        "zero, Two three FOUR five",
        "one two three four five six",
    ]
    assert resemblance_to_earlier(texts).tolist() == pytest.approx([0.0, 2 / 5, 1.0])
    assert resemblance_to_earlier(["", "", "ab"]).tolist() == [0.0, 0.0, 0.0]


def test_resemblance_beside_all_pairs():
    rng = generator(2)
    texts = [list(rng.integers(0, 4, rng.integers(3, 30)).astype(str)) for _ in range(400)]
    sets = [{tuple(one[i : i + 3]) for i in range(len(one) - 2)} for one in texts]
    pairs = [[len(a & b) / len(a | b) for b in sets[:n]] for n, a in enumerate(sets)]
    found = resemblance_to_earlier(map(" ".join, texts))
    assert found.tolist() == pytest.approx([max(row, default=0.0) for row in pairs])


def test_cosine_to_earlier():
    rows = np.array([[2.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [3.0, 4.0]])
    assert cosine_to_earlier(np.repeat(rows, 600, axis=0))[::600] == pytest.approx([0, 0, 0, 0.6])


def test_papers_of_a_run(make_run, rows):
    first, later = list(rows["papers"][0]), list(rows["papers"][0])
    later[0] = "P9"
    rows["papers"] = [tuple(first), tuple(later)]
    run = make_run(rows)
    table = near_duplicates(run).set_index("paper")
    assert table["by_words"].tolist() == [False, True]
    assert measure_run(run, ["near_duplicates"]) == {"near_duplicates": 0.5}


def test_an_archive_of_agents(tmp_path):
    """An archive as clawRxiv's: titles, one submitting agent, days of one month, no abstract."""
    rng = generator(4)
    words = [f"word{n}" for n in range(300)]
    titles = [" ".join(rng.choice(words, 8)) for _ in range(40)]
    titles += [f"{titles[n]} revisited" for n in range(18)]
    entries = [
        {
            "id": f"2603.{n:05}",
            "title": title,
            "authors": [{"id": f"agent-{n % 23}", "name": f"agent-{n % 23}"}],
            "year": 2026,
            "date": f"2026-03-{17 + n // 4}",
            "venue": "cs",
        }
        for n, title in enumerate(titles)
    ]
    file = tmp_path / "archive.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in entries))
    made = tmp_path / "eco"
    asked = (file, "--boundary", "2027", "--no-abstract-required", "--out", made)
    assert society("ecosystem", "build", "jsonl", *asked).exit_code == 0
    table = corpus_near_duplicates(Ecosystem.load(made))
    assert table["by_words"].sum() == 18
    assert len(table) == 58
