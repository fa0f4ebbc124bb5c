"""A packed study is the same study: tables, digests, page, archive; also after kills."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.scenarios.study.test_running import TINY, gathered, opened, written
from virsci_society.agents.files import packs
from virsci_society.agents.journal.records import NANO
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.export.mcp import RunReader
from virsci_society.scenarios.runs.lease import hold_lease
from virsci_society.scenarios.study.execution import run_one as one_run
from virsci_society.scenarios.study.execution.budget_shares import spent_by
from virsci_society.scenarios.study.execution.dask_engine import run_on_cluster
from virsci_society.scenarios.study.execution.engine import run_locally
from virsci_society.scenarios.study.folder import open_folder, read_statuses, require_lock
from virsci_society.scenarios.study.reader import read_study
from virsci_society.scenarios.study.results.page import write_study_page
from virsci_society.scenarios.study.status import Status, write_status
from virsci_society.society.results.run import Run

MEASURED = TINY.replace("measures: [papers, calls]", "measures: [papers, calls, ON]")


def society(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def everything(design, study):
    """Hashes of the gathered tables, the digests of the runs, and the page."""
    found = gathered(design, study)
    return found | {"page": write_study_page(study).read_bytes()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The study as ordinary folders, and everything that is gathered of it."""
    design, study = opened(tmp_path_factory.mktemp("alone"), MEASURED)
    assert [one.state for one in run_locally(study, range(4))] == ["done"] * 4
    return study, everything(design, study)


@pytest.fixture
def copied(alone, tmp_path):
    """A copy of the finished study that is to be packed, and its design."""
    shutil.copytree(alone[0], tmp_path / "study")
    design = read_study(written(tmp_path, MEASURED), ["pack=true"])
    open_folder(design, tmp_path / "study")
    return design, tmp_path / "study"


def loose(study):
    return sorted(path.name for path in (study / "runs").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_packed_study_is_the_same_in_one_file_a_worker(alone, tmp_path, jobs):
    design, study = opened(tmp_path, MEASURED, "pack=true")
    assert [one.state for one in run_locally(study, range(4), jobs=jobs)] == ["done"] * 4
    assert not loose(study)
    assert len(list((study / "packs").iterdir())) == jobs
    assert everything(design, study) == alone[1]
    assert not loose(study), "what the tables need is measured before a run is packed"
    here, there = Run.open(study / "runs/0002"), Run.open(alone[0] / "runs/0002")
    assert here.digest == there.digest
    assert all(table.equals(there.table(name)) for name, table in here.tables().items())
    copy = here.folder
    assert copy.is_dir()
    del here
    assert not copy.exists()


@pytest.mark.slow
def test_workers_of_a_cluster_pack_what_they_have_done(alone, tmp_path):
    pytest.importorskip("distributed")
    design, study = opened(tmp_path, MEASURED, "pack=true")
    done = run_on_cluster(study, range(4), local_cluster=2)
    assert [one.state for one in done] == ["done"] * 4
    assert not loose(study)
    assert len(list((study / "packs").iterdir())) <= 2
    assert everything(design, study) == alone[1]


def test_a_program_reads_packed_runs_as_it_reads_the_others(alone, copied):
    _, study = copied
    run_locally(study, range(4))
    for root, name in (("", "runs/0002"), ("runs", "0002")):
        here, there = RunReader(study / root), RunReader(alone[0] / root)
        assert here.runs() == there.runs()
        assert len(here.runs()) == 4
        assert here.summary(name) == there.summary(name)
        assert here.table(name, "papers") == there.table(name, "papers")
        assert here.transcript(name) == there.transcript(name)
    assert not loose(study), "nothing is written"


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "step", ["copyfileobj", "os.fsync", "move_folder", "remove_file", "remove_folder"]
)
def test_a_worker_killed_while_it_packs_loses_nothing_of_another_run(alone, copied, step):
    design, study = copied
    owner, _, name = step.rpartition(".")
    child = os.fork()
    if not child:
        one_run.run_one(study, 0)
        place = packs.os if owner else packs
        real = getattr(place, name)

        def dying(*arguments, **more):
            if name == "copyfileobj":
                arguments[1].write(arguments[0].read(1000))
                arguments[1].flush()
            elif name.endswith("folder"):
                real(*arguments, **more)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(place, name, dying)
        one_run.run_one(study, 1)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert everything(design, study) == alone[1]
    assert [one.state for one in run_locally(study, range(4))] == ["done"] * 4
    assert not loose(study)
    assert everything(design, study) == alone[1]


@pytest.mark.slow
def test_a_pack_that_was_cut_costs_its_last_run_only(alone, copied):
    design, study = copied
    run_locally(study, range(4))
    (pack,) = (study / "packs").iterdir()
    pack.write_bytes(pack.read_bytes()[:-100])
    states = [one.state for one in read_statuses(study, require_lock(study))]
    assert states == ["done", "done", "done", "waiting"]
    assert [one.state for one in run_locally(study, range(4))] == ["done"] * 4
    assert not loose(study)
    assert everything(design, study) == alone[1]


def test_a_worker_that_comes_late_sees_that_another_has_packed_the_run(copied, monkeypatch):
    """It had read the status before; under the lease it would begin the run anew."""
    _, study = copied
    index, done = 3, one_run.read_status(study, 3)
    write_status(study, Status(index, done.arm, done.replicate, done.seed, "running"))

    def late(folder, owner):
        write_status(study, done)
        packs.pack_run(folder)
        return hold_lease(folder, owner)

    monkeypatch.setattr(one_run, "hold_lease", late)
    monkeypatch.setattr(one_run, "run_scenario", lambda *_, **__: pytest.fail("begun anew"))
    assert one_run.run_one(study, index) == done
    assert not [name for name in loose(study) if name.startswith("0003")]


@pytest.mark.slow
def test_commands_read_a_packed_study_as_any_other(copied, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")  # one line a row, however long the path is
    _, study = copied
    before = society("export", "archive", study, "--out", tmp_path / "loose.zip")
    assert before.exit_code == 0, before.output
    again = society("study", "run", study, "--jobs", 1)
    assert again.exit_code == 0, again.output
    assert "4 of 4 runs to be packed" in again.output
    assert not loose(study)
    assert "holds this study already" in society("study", "run", study).output
    assert "done" in society("study", "status", study).stdout
    assert "study: 4 of 4 runs finished" in society("list", "runs", tmp_path).stdout
    assert "a study, 4 of 4 runs finished" in society("show", study).output
    checked = society("doctor", study)
    assert checked.exit_code == 0, checked.output
    assert f"{study}/runs/0001/journal.sqlite" in checked.stdout
    after = society("export", "archive", study, "--out", tmp_path / "packed.zip")
    assert after.exit_code == 0, after.output
    assert members(tmp_path / "packed.zip") == members(tmp_path / "loose.zip")
    shown = society("show", study / "runs/0001")
    assert shown.exit_code == 0, shown.output
    assert society("doctor", study / "runs/0001").exit_code == 0
    assert not loose(study), "nothing is left of a run that was only read"
    page = society("export", "page", study / "runs/0001")
    assert "0001: out of its pack, with what was written into it" in page.stderr
    assert loose(study) == ["0001"]
    assert Path(page.stdout.removeprefix("report: ").strip()).is_file()
    assert society("study", "run", study).exit_code == 0
    assert loose(study) == ["0001"]


def members(path):
    """What a study's archive holds of its runs and tables, but not of how it was run."""
    import zipfile

    with zipfile.ZipFile(path) as archive:
        names = [one for one in archive.namelist() if one.startswith(("study/", "dataset/"))]
        own = ("study/study.yaml", "study/hashes.json")
        return {name: archive.read(name) for name in names if name not in own}


def test_damage_in_a_pack_is_told_of_its_run(copied):
    _, study = copied
    run_locally(study, range(4))
    (pack,) = (study / "packs").iterdir()
    content = bytearray(pack.read_bytes())
    content[-2000] ^= 1
    pack.write_bytes(content)
    told = society("doctor", study)
    assert told.exit_code == 2
    assert str(pack) in told.output


def test_what_a_packed_run_has_spent_counts_where_the_accounts_are_lost(tmp_path):
    folder = tmp_path / "runs" / "0002"
    folder.mkdir(parents=True)
    write_status(tmp_path, Status(2, "a", 0, 1, "done", calls=7, tokens=900, usd=123456789 / NANO))
    packs.pack_run(folder)
    assert not loose(tmp_path)
    assert spent_by(folder) == (7, 900, 123456789)
    assert spent_by(tmp_path / "runs" / "0003") == (0, 0, 0)
