"""No command runs Python files of the current folder, in any of its processes, without --trust."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "options", [["--jobs", "1"], pytest.param(["--local-cluster", "1"], marks=pytest.mark.slow)]
)
def test_a_study_runs_no_file_of_the_current_folder(tmp_path, promise, options):
    script, folder = tmp_path / "society.py", tmp_path / "strange"
    script.write_text(
        "from virsci_society._installation import main\nif __name__ == '__main__':\n    main()\n"
    )
    folder.mkdir()
    for name in ("pickle", "socket", "struct", "random", "virsci_society"):
        (folder / f"{name}.py").write_text(f"open('EXECUTED-{name}', 'w').close()\n")
    (folder / "study.yaml").write_text(
        "study: small\nbase: community/assembly\nreplicates: 1\nset: {metrics: []}\n"
        "arms:\n  short: {until: 26w}\n  long: {until: 30w}\n"
        "measures: [papers]\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), "study", "run", "study.yaml", *options, "--out", "out"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.glob("EXECUTED-*")) == []
    promise("R10", "hostile modules beside a study that were not run", 5)
