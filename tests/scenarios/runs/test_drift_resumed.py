"""A run in which interests drift and guests come back is resumed, replayed and forked like any."""

import pytest

from tests.scenarios.runs.asked import digest, run_until
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.execute import run_scenario as run_scenario
from virsci_society.scenarios.runs.fork import Fork
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.society.results.digest import compute_run_prefix
from virsci_society.society.results.run import Run

pytestmark = pytest.mark.usefixtures("no_results")
AT = 70.0
KEYS = {
    "founding.count": 8,
    "founding.every": 14.0,
    "protocol.team_size": 3,
    "protocol.selection": {"use": "coauthorship", "guests": 2.0},
    "population.drift": {"use": "writing", "entering": 0.8, "start": 1.0},
    "metrics": ["teams"],
}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory, small_text):
    path = tmp_path_factory.mktemp("text") / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return load_scenario(path, **KEYS)


@pytest.fixture(scope="module")
def parent(scenario, tmp_path_factory):
    """A finished run whose interests have changed before and after the day of the fork."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("virsci_society.metrics.report.page.write_page", lambda *_: None)
        folder = run_scenario(scenario, tmp_path_factory.mktemp("parent") / "run")
    dates = Run.open(folder).table("interests")["date"]
    assert (dates < AT).any()
    assert (dates > AT).any()
    return folder


@pytest.mark.slow
def test_a_stopped_run_goes_on_to_the_same_end(scenario, parent, here, monkeypatch):
    run_until(monkeypatch, 90, lambda: run_scenario(scenario, here / "run"))
    run_scenario(scenario, here / "run")
    assert digest(here / "run") == digest(parent)


def test_it_is_replayed_from_its_journal_without_encoding_interests_again(
    parent, here, monkeypatch
):
    from virsci_society.society.literature.embedding import lsa

    encoded = []
    encode = lsa.LSAEmbedding.encode

    def noting(self, texts):
        encoded.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(lsa.LSAEmbedding, "encode", noting)
    replay(parent)
    lists = Run.open(parent).table("interests")["interests"]
    told = {text.replace("; ", ", ") for text in lists}
    assert told
    assert not told & set(encoded)
    assert (parent / JOURNAL).exists()


@pytest.mark.slow
def test_a_fork_shares_the_interests_of_the_past(parent, here):
    past = Fork.of(parent, f"{AT:g}d", ["protocol.turns=2"]).run(here / "fork")
    ours, theirs = Run.open(here / "fork"), Run.open(parent)
    assert past == compute_run_prefix(ours, AT) == compute_run_prefix(theirs, AT)
    tables = [run.table("interests") for run in (ours, theirs)]
    before = [table[table["date"] < AT].to_dict("records") for table in tables]
    after = [table[table["date"] >= AT].to_dict("records") for table in tables]
    assert before[0] == before[1] != []
    assert after[0] != after[1]


def test_switched_off_it_leaves_no_trace_in_the_identity(small):
    """Also in a mixture, whose protocols stand in a list."""
    assert "drift" not in small.identity()["population"]
    assert "guests" not in small.identity()["protocol"].get("selection", {})
    on = small.set("population.drift", {"use": "writing"}).set("protocol.selection.guests", 1.0)
    assert on.identity()["population"]["drift"]["use"] == "writing"
    assert on.identity()["protocol"]["selection"]["guests"] == 1.0
    parts = [{"share": 1, "protocol": {"use": "virsci", "turns": turns}} for turns in (1, 2)]
    parts[1]["name"] = "longer"
    mixed = small.set("protocol", {"use": "mixture", "of": parts}).identity()["protocol"]["of"]
    assert all("guests" not in one["protocol"].get("selection", {}) for one in mixed)
    assert [one["protocol"]["turns"] for one in mixed] == [1, 2]
