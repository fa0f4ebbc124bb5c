"""R16: a flipped bit in any file of a finished folder is noticed, or changes nothing that is read.

A run, a study and a calibration; every file of them may be hit, the pages and the locks too.
"""

import json
import random
import shutil

import pytest
from typer.testing import CliRunner

from tests.promises.test_links import micro
from tests.scenarios.calibration.conftest import field_papers
from virsci_society.scenarios.analysis.verification import verify_folder
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.runs.execute import run_scenario

__all__ = ["field_papers", "micro"]
OFTEN = [10, pytest.param(100, marks=pytest.mark.slow)]
"""Flips in each of the three folders."""
STUDY = """\
study: two sizes
base: base.yaml
arms: {grid: {protocol.team_size: [1, 2]}}
replicates: 1
measures: [papers, calls]
"""


def done(*arguments):
    """What a command prints; the folder's own files are left out, which a copy has elsewhere."""
    made = CliRunner().invoke(app, [str(one) for one in arguments])
    return made.exit_code, made.output


@pytest.fixture(scope="module")
def run(micro, tmp_path_factory):
    """A finished run with its page."""
    return run_scenario(micro, tmp_path_factory.mktemp("flips") / "run")


@pytest.fixture(scope="module")
def study(run, tmp_path_factory):
    """A finished study of two arms with its page."""
    place = tmp_path_factory.mktemp("flips")
    shutil.copy(run / "scenario.yaml", place / "base.yaml")
    (place / "sizes.yaml").write_text(STUDY, encoding="utf-8")
    command = ("study", "run", place / "sizes.yaml", "--out", place / "study", "--jobs", 1)
    code, output = done(*command)
    assert code == 0, output
    return place / "study"


@pytest.fixture(scope="module")
def calibration(tmp_path_factory, field_papers):
    """A finished calibration."""
    from tests.scenarios.calibration.conftest import BASE, write_jsonl
    from tests.scenarios.calibration.test_calibrate import BRIEF
    from virsci_society.scenarios.calibration.calibrate import calibrate
    from virsci_society.scenarios.calibration.calibration_file import read_calibration

    place = tmp_path_factory.mktemp("flips")
    (place / "base.yaml").write_text(BASE, encoding="utf-8")
    (place / "field.yaml").write_text(BRIEF, encoding="utf-8")
    write_jsonl(place / "papers.jsonl", field_papers)
    calibrate(read_calibration(place / "field.yaml"), place / "out")
    return place / "out"


def read_out(folder, kind):
    """All that the commands print of a folder, and its pages as they are written again."""
    if kind == "run":
        commands = (("show", folder, "--json"), ("replay", folder), ("export", "page", folder))
    elif kind == "study":
        commands = (("study", "status", folder, "--out", folder, "--json"),)
        commands += (("study", "report", folder, "--out", folder),)
    else:
        commands = ()
    printed = [done(*command) for command in commands]
    pages = sorted(folder.glob("report.html")) + sorted(folder.glob("report/*"))
    return printed, [path.read_bytes() for path in pages], sorted(folder.glob("*.yaml"))


def same_data(path, kept):
    """Is a file that bears its own hash the same data, with other spaces?"""
    try:
        return json.loads(path.read_bytes()) == json.loads(kept)
    except ValueError:
        return False


@pytest.mark.sweep(3)
@pytest.mark.parametrize("number", OFTEN)
@pytest.mark.parametrize("kind", ["run", "study", "calibration"])
def test_a_flipped_bit(kind, number, request, tmp_path, promise):
    luck = random.Random(f"{kind} {number}")
    folder = tmp_path / "folder"
    shutil.copytree(request.getfixturevalue(kind), folder)
    assert not verify_folder(folder).damage
    whole = read_out(folder, kind)
    assert all(code == 0 for code, _ in whole[0]), whole[0]
    assert not verify_folder(folder).damage
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
    noticed = harmless = 0
    for _ in range(number):
        path = luck.choice(files)
        kept = path.read_bytes()
        data = bytearray(kept)
        data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
        path.write_bytes(bytes(data))
        if verify_folder(folder).damage:
            noticed += 1
        else:
            assert same_data(path, kept) or read_out(folder, kind) == whole, path
            harmless += 1
        path.write_bytes(kept)
    assert noticed >= 0.8 * number
    promise("R16", "flipped bits tried in finished folders", number)
    promise("R16", "flipped bits noticed", noticed)
    promise("R16", "flipped bits that changed nothing", harmless)
