"""R1 and R13: kills while the final files are written, and other settings for half a run.

The kills are counted by renames: every final file takes its place by one.
"""

import json
import shutil

import pytest

from tests.promises.conftest import digest_of

SCENARIO = """\
name: small
seed: 3
until: {until}
metrics: []
population: {{ecosystem: {{scientists: 8, papers: 40, fields: 2, seed: 1}}}}
founding: {{use: once, count: 2}}
protocol: {{team_size: 2, turns: 1, topic: {{leaving: off}}}}
"""
RENAMES = """
import os, signal
whole, seen = os.replace, []
def replace(source, target, **how):
    seen.append(os.path.basename(target))
    with open({log!r}, "a") as log:
        log.write(seen[-1] + "\\n")
    if {after} and len(seen) == {nth}:
        whole(source, target, **how)
    if len(seen) == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
    whole(source, target, **how)
os.replace = replace
"""
"""Notes the final files in their order, and dies before or after one takes its place."""


FIELD = """\
extends: community/field
until: 60d
metrics: []
population: {ecosystem: {scientists: 24, papers: 120, fields: 2}}
founding: {teams_per_year: 30}
"""


def do(nursery, folder, *more, until="60d", nth=0, after=False, text=SCENARIO):
    """The command, with the real report; gives its exit code, and the files in their order."""
    path, log = folder / "small.yaml", folder / "renames"
    path.write_text(text if text == FIELD else text.format(until=until), encoding="utf-8")
    log.write_text("")
    before = RENAMES.format(log=str(log), nth=nth, after=after)
    where = ("run", path, "--out", folder / "run")
    code, _ = nursery.run(folder / "log", *where, *more, page=True, before=before)
    return code, log.read_text().split()


def finals(folder):
    """The names of the files of a finished run, and the digest its manifest tells."""
    run = folder / "run"
    names = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    return {name for name in names if not name.startswith("journal")}, digest_of(run)


@pytest.fixture(scope="module")
def whole(offline_nursery, tmp_path_factory):
    """What the run that nobody kills leaves, and the order of its final files."""
    folder = tmp_path_factory.mktemp("whole")
    code, order = do(offline_nursery, folder)
    assert code == 0, (folder / "log").read_text()
    assert {"manifest.json", "report.html", "digest"} <= set(order)
    return finals(folder), order


def is_survived(nursery, folder, whole, nth, after, text=SCENARIO):
    expected, _ = whole
    folder.mkdir()
    code, _ = do(nursery, folder, nth=nth, after=after, text=text)
    assert code == -9, (folder / "log").read_text()
    code, _ = do(nursery, folder, text=text)
    assert code == 0, (folder / "log").read_text()
    assert finals(folder) == expected
    json.loads((folder / "run" / "manifest.json").read_text())


@pytest.mark.parametrize(
    ("name", "after"),
    [("manifest.json", False), pytest.param("report.html", True, marks=pytest.mark.slow)],
)
def test_a_run_killed_at_a_final_file_is_gone_on_with(
    offline_nursery, tmp_path, whole, promise, name, after
):
    nth = 1 + whole[1].index(name)
    is_survived(offline_nursery, tmp_path / "killed", whole, nth, after)
    promise("R1", "kills while the final files were written", 1)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("after", [False, True])
def test_a_run_killed_at_every_final_file_is_gone_on_with(
    offline_nursery, tmp_path, whole, promise, after
):
    for nth in range(1, len(whole[1]) + 1):
        is_survived(offline_nursery, tmp_path / str(nth), whole, nth, after)
        promise("R1", "kills while the final files were written", 1)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_field_killed_at_its_final_files_or_anywhere_is_gone_on_with(
    offline_nursery, tmp_path, promise
):
    """``community/field``, smaller: newcomers, papers of the field, several teams at a time."""
    folder = tmp_path / "whole"
    folder.mkdir()
    code, order = do(offline_nursery, folder, text=FIELD)
    assert code == 0, (folder / "log").read_text()
    whole = finals(folder), order
    for name in ("scenario.yaml", "papers.parquet", "report.html", "summary.json", "manifest.json"):
        for after in (False, True):
            place = tmp_path / f"{name}-{after}"
            is_survived(offline_nursery, place, whole, 1 + order.index(name), after, FIELD)
            promise("R1", "kills of a field while its final files were written", 1)
    path, run = folder / "small.yaml", tmp_path / "anywhere" / "run"
    run.parent.mkdir()
    died, seconds = 0, offline_nursery.run(run.parent / "log", "run", path, "--out", run)[1]
    for share in (0.2, 0.4, 0.6, 0.8):
        shutil.rmtree(run, ignore_errors=True)
        where = ("run", path, "--out", run)
        code, _ = offline_nursery.run(
            run.parent / "log", *where, page=True, kill_after=share * seconds
        )
        died += code == -9
        code, _ = offline_nursery.run(run.parent / "log", *where, page=True)
        assert code == 0, (run.parent / "log").read_text()
        assert finals(run.parent) == whole[0]
    assert died
    promise("R1", "kills of a field anywhere", died)


def test_half_a_run_goes_on_to_a_longer_end(offline_nursery, tmp_path, whole, promise):
    code, _ = do(offline_nursery, tmp_path, until="30d", nth=1)
    assert code == -9, (tmp_path / "log").read_text()
    code, _ = do(offline_nursery, tmp_path)
    assert code == 0, (tmp_path / "log").read_text()
    assert finals(tmp_path) == whole[0]
    promise("R13", "half-run folders gone on with to a longer end", 1)
