"""What is kept of the runs of a study: its tables, digests and page do not depend on it."""

import os
import shutil
import signal

import pytest

from tests.command_line import society
from tests.scenarios.study.test_running import TINY, gathered, opened, written
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.study import lock as study_folder
from virsci_society.scenarios.study import run_one as one_run
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.lock import open_folder, read_results, require_lock
from virsci_society.scenarios.study.page import write_study_page
from virsci_society.scenarios.study.run_study import run_locally
from virsci_society.scenarios.study.tables import gather
from virsci_society.society.results.run import Run

MEASURED = TINY.replace("measures: [papers, calls]", "measures: [papers, calls, ON]")


def everything(design, study):
    """Hashes of the gathered tables, the digests of the runs, and the page."""
    found = gathered(design, study)
    return found | {"page": write_study_page(study).read_bytes()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The study with whole run folders, and everything that is gathered of it."""
    design, study = opened(tmp_path_factory.mktemp("alone"), MEASURED)
    assert [one.state for one in run_locally(study, range(4))] == ["done"] * 4
    return study, everything(design, study)


@pytest.fixture
def copied(alone, tmp_path):
    """A copy of the finished study."""
    shutil.copytree(alone[0], tmp_path / "study")
    return tmp_path / "study"


def with_keep(study, keep):
    """The design of a finished study of which less is to be kept."""
    design = read_study(written(study.parent, MEASURED), [f"keep={keep}"])
    open_folder(design, study)
    return design


def folders(study):
    return sorted(path.name for path in (study / "runs").iterdir() if path.name.isdigit())


def journals(study):
    return list(study.glob("runs/*/journal.sqlite*"))


def test_a_study_that_keeps_tables_is_the_same_without_journals(alone, tmp_path):
    design, study = opened(tmp_path, MEASURED, "keep=tables")
    assert [one.state for one in run_locally(study, range(4))] == ["done"] * 4
    assert not journals(study)
    assert everything(design, study) == alone[1]
    here, there = Run.open(study / "runs/0002"), Run.open(alone[0] / "runs/0002")
    assert all(table.equals(there.table(name)) for name, table in here.tables().items())
    checked = society("doctor", study)
    assert checked.exit_code == 0, checked.output
    refused = society("export", "archive", study, "--out", tmp_path / "a.zip")
    assert refused.exit_code == 2
    assert "its journal was not kept" in " ".join(refused.output.split())


def test_a_study_that_keeps_measures_has_the_same_results_and_does_no_run_again(
    alone, tmp_path, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "300")  # one line a row, however long the path is
    design, study = opened(tmp_path, MEASURED, "keep=measures")
    assert [one.state for one in run_locally(study, range(4))] == ["done"] * 4
    assert not folders(study)
    lock = require_lock(study)
    gather(design, study, lock, read_results(study, lock))
    for name in ("study.json", "runs.parquet", "results.parquet", "texts.parquet"):
        assert (study / name).read_bytes() == (alone[0] / name).read_bytes(), name
    monkeypatch.setattr(one_run, "run_scenario", lambda *_, **__: pytest.fail("done again"))
    assert [one.state for one in run_locally(study, range(4))] == ["done"] * 4
    done = society("study", "run", study)
    assert done.exit_code == 0, done.output
    assert "already contains this study" in society("study", "run", study).output
    assert "study: 4 of 4 runs finished" in society("list", "runs", tmp_path).stdout
    assert "a study, 4 of 4 runs finished" in society("show", study).output
    checked = society("doctor", study)
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("keep", ["tables", "measures"])
def test_what_is_not_kept_goes_also_of_runs_that_were_done_before(copied, keep):
    with_keep(copied, keep)
    done = society("study", "run", copied, "--set", f"keep={keep}")
    assert done.exit_code == 0, done.output
    assert not journals(copied)
    assert folders(copied) == ([f"000{index}" for index in range(4)] if keep == "tables" else [])


def test_a_measure_that_is_asked_for_when_no_folder_is_left_is_refused(copied):
    with_keep(copied, "measures")
    assert society("study", "run", copied).exit_code == 0
    text = MEASURED.replace("[papers, calls, ON]", "[papers, calls, ON, teams]")
    design = read_study(written(copied.parent, text), ["keep=measures"])
    lock = require_lock(copied)
    with pytest.raises(
        InputError, match=r"0000: kept only its measures, so teams can no longer be"
    ):
        gather(design, copied, lock, read_results(copied, lock))


@pytest.mark.slow
def test_a_worker_killed_while_it_deletes_costs_nothing(alone, tmp_path):
    _, study = opened(tmp_path, MEASURED, "keep=measures")
    child = os.fork()
    if not child:

        def dying(folder):
            shutil.rmtree(folder / "tables")
            os.kill(os.getpid(), signal.SIGKILL)

        study_folder.remove_folder = dying
        one_run.run_one(study, 0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert folders(study) == ["0000"]
    assert society("study", "run", study, "--jobs", 1).exit_code == 0
    assert not folders(study)
    results = (study / "results.parquet").read_bytes()
    assert results == (alone[0] / "results.parquet").read_bytes()
