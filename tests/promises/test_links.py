"""R10: a link or pipe under a name that the program writes is refused, and nothing else changes."""

import shutil

import pytest

from tests.agents.files.test_atomic_files import KINDS, outside, plant
from virsci_society.agents.errors import InputError, Stopped
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.calibration.calibrate import take_lock
from virsci_society.scenarios.calibration.windows import LOG, Simulations
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.scenarios.study.lock import require_lock
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

__all__ = ["outside"]
MICRO = """\
name: micro
seed: 3
until: 30d
population: {ecosystem: {use: synthetic, scientists: 6, papers: 20, fields: 2, seed: 1}}
founding: {use: once, count: 1, every: 7d}
protocol: {use: virsci, team_size: 2, turns: 1, inviting: at_once, topic: {leaving: off}}
metrics: []
"""
KILLED = ("scenario.yaml.unfinished", "events.jsonl.unfinished", "tables/ties.parquet.unfinished")
"""Names that are there only while a run writes, or after a kill."""
JOURNAL = tuple(f"journal.sqlite{suffix}" for suffix in ("", "-wal", "-shm", "-journal", ".lock"))
PARTIAL = ("partial", "partial/manifest.json", "partial/tables", "partial/tables/teams.parquet")
STUDY = (
    *("lock.json", "base.yaml", "study.yaml", "study.json", "hashes.json", "runs.parquet"),
    *("results.parquet", "matched.parquet", "reviews.parquet", "report.html", "report"),
    *("report/papers.csv", "tables", "tables/teams.parquet", "runs"),
    *("runs/0000", "runs/0000.result.json", "runs/0000.lease", "lock.json.77.unfinished"),
)


@pytest.fixture(scope="module")
def micro(tmp_path_factory):
    """A scenario of one team."""
    path = tmp_path_factory.mktemp("micro") / "micro.yaml"
    path.write_text(MICRO, encoding="utf-8")
    return load_scenario(path)


@pytest.fixture(scope="module")
def finished(micro, tmp_path_factory):
    """Its run folder, which the tests copy."""
    return run_scenario(micro, tmp_path_factory.mktemp("finished") / "run", page=False)


def each_planted(folder, names, outside, use):
    """Plant every kind under every name in turn, and see that its use is refused by name."""
    tried = 0
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = folder.parent / "aside"
        if path.exists():
            path.rename(aside)
        for kind in KINDS:
            plant(path, kind, outside)
            with pytest.raises((InputError, Stopped)) as caught:
                use(name)
            assert name in str(caught.value), (name, kind, str(caught.value))
            path.unlink()
            tried += 1
        if aside.exists():
            aside.rename(path)
    return tried


def test_a_run_folder(micro, finished, outside, tmp_path, promise):
    """Unfinished, with every name of a finished, a stopped and a killed run."""
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "manifest.json").unlink()
    found = sorted(path.relative_to(finished).as_posix() for path in finished.rglob("*"))
    assert {"tables", "vectors.npz", "hashes.json", "digest"} <= {*found}
    names = {*found, "report.html", *JOURNAL, *KILLED, *PARTIAL}
    tried = each_planted(folder, sorted(names), outside, lambda _: run_scenario(micro, folder))
    promise("R10", "links refused", tried)


def test_a_finished_run_is_not_read_through_links(micro, finished, outside, tmp_path, promise):
    from virsci_society.society.results.run import Run

    folder = tmp_path / "run"
    shutil.copytree(finished, folder)

    def read_all(_):
        opened = Run.open(folder)
        opened.tables()
        list(opened.events())
        for name in opened.metric_names():
            opened.metric(name)

    # What nobody reads or writes again is left out, and a missing file is what a dangling link is.
    names = ["hashes.json", "tables/teams.parquet", "events.jsonl", "vectors.npz"]
    tried = 0
    for name in names:
        (folder / name).rename(tmp_path / "aside")
        for kind in ("file", "folder", "pipe"):
            plant(folder / name, kind, outside)
            with pytest.raises(InputError, match=name):
                read_all(name)
            (folder / name).unlink()
            tried += 1
        (tmp_path / "aside").rename(folder / name)
    promise("R10", "links refused", tried)


def test_a_journal(outside, tmp_path, promise):
    folder = tmp_path / "run"
    folder.mkdir()
    use = lambda _: Journal(folder / "journal.sqlite")  # noqa: E731
    promise("R10", "links refused", each_planted(folder, JOURNAL, outside, use))


def test_a_study(outside, tmp_path, promise):
    folder = tmp_path / "study"
    tried = each_planted(folder, STUDY, outside, lambda _: require_lock(folder))
    promise("R10", "links refused", tried)


def test_an_ecosystem(outside, tmp_path, promise):
    made = Synthetic(scientists=6, papers=20, fields=2, seed=1).generate(1)
    folder = tmp_path / "ecosystem"
    made.save(folder)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    tried = each_planted(folder, [*names, "key.parquet"], outside, lambda _: made.save(folder))
    promise("R10", "links refused", tried)


def test_calibrations(outside, tmp_path, promise):
    folder = tmp_path / "calibration"
    names = ("lock.json", "held_out.json", "report.html", "posterior.parquet", "simulations.jsonl")
    names += ("calibrated.yaml", "parameters.csv")
    tried = each_planted(folder, names, outside, lambda _: take_lock(folder, {"hash": ""}))
    tried += each_planted(folder, [LOG], outside, lambda _: Simulations(folder, None))
    promise("R10", "links refused", tried)
