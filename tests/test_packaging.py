"""What a wheel, a source distribution and the container hold."""

import os
import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = ("agents", "society", "protocols", "metrics", "scenarios")
NOT_IN_A_DISTRIBUTION = (".ci/*", ".github/*", ".gitignore")


def tracked():
    """The files of the checkout that git knows of."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a checkout")
    return done.stdout.split("\n")[:-1]


def in_a_wheel(path):
    """Do the settings of the build backend put this file of a package into a wheel?"""
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]["*"]
    name = Path(path).name
    return name.endswith(".py") or any(fnmatch(name, pattern) for pattern in patterns)


def test_the_five_folders_are_parts_of_one_package():
    links = {
        path.name: os.readlink(path)
        for path in (ROOT / "virsci_society").iterdir()
        if path.is_symlink()
    }
    assert links == {package: f"../{package}" for package in PACKAGES}


def test_a_wheel_holds_every_file_of_the_packages():
    files = [path for path in tracked() if path.startswith(tuple(f"{one}/" for one in PACKAGES))]
    assert len(files) > 400
    assert "virsci_society/py.typed" in tracked()
    assert in_a_wheel("virsci_society/py.typed")
    assert [path for path in files if not in_a_wheel(path)] == []
    # Folders of data without an __init__ are packages too, as ``find`` takes namespaces.
    assert PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"] == ["virsci_society*"]


def test_a_source_distribution_is_complete():
    """By the build backend's own reading of MANIFEST.in, over the files that git knows of."""
    filelist = pytest.importorskip("setuptools._distutils.filelist")
    files, made = tracked(), filelist.FileList()
    made.set_allfiles(files)
    for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines():
        made.process_template_line(line)
    # Added by the backend itself, without a line in MANIFEST.in.
    made.extend(path for path in files if path.split("/")[0] == "virsci_society")
    made.extend(["pyproject.toml", "README.md", "MANIFEST.in"])
    made.extend(PYPROJECT["project"]["license-files"])
    left_out = sorted(set(files) - set(made.files))
    assert [p for p in left_out if not any(fnmatch(p, one) for one in NOT_IN_A_DISTRIBUTION)] == []


def test_the_metadata_name_licence_classifiers_and_pages():
    project = PYPROJECT["project"]
    assert project["license"] == "MIT"
    assert all((ROOT / name).is_file() for name in project["license-files"])
    assert "Typing :: Typed" in project["classifiers"]
    oldest = re.search(r"\d+\.\d+", project["requires-python"])
    assert oldest is not None
    assert f"Programming Language :: Python :: {oldest.group()}" in project["classifiers"]
    assert all(url.startswith("https://") for url in project["urls"].values())


def test_the_container_copies_what_there_is_and_runs_the_demo():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [
        name for line in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE) for name in line.split()
    ]
    assert set(copied) >= {
        *PACKAGES,
        "virsci_society",
        "pyproject.toml",
        *PYPROJECT["project"]["license-files"],
    }
    assert all((ROOT / name).exists() for name in copied)
    # The build needs every file that the metadata name.
    assert PYPROJECT["project"]["readme"] in copied
    demo = re.search(r"society run quickstart", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert demo is not None
    assert 'CMD ["society", "run", "quickstart"' in text
