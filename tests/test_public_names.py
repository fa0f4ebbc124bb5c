"""Every public name shows its use: the examples of its docstring are run here."""

import ast
import doctest
import re
from pathlib import Path

import pytest

import virsci_society as vs

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
DATA = ("METRICS", "Days", "Process")
"""Names that are no classes or functions: their examples stand in the docstring of the package."""


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What examples are given: a small scenario, its run, and a team that has just been founded."""
    keys = {
        "until": "26w",
        "population.ecosystem.scientists": 12,
        "population.ecosystem.papers": 80,
        "protocol.turns": 1,
        "metrics": ["teams"],
    }
    scenario = vs.load_scenario("quickstart", **keys)
    folder = vs.run_scenario(scenario, tmp_path_factory.mktemp("runs") / "small", page=False)
    society = vs.ScenarioSociety("quickstart", seed=1, **keys)
    team = vs.Team("Scientist1/1", "Scientist1", "virsci", founded=0.0, members=["Scientist1"])
    return {
        "vs": vs,
        "scenario": scenario,
        "folder": folder,
        "run": vs.Run.open(folder),
        "team": team,
        "lab": vs.Lab(society.world, team),
    }


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _examples(text):
    return doctest.DocTestParser().get_examples(text or "")


def _is_used(name, text):
    return any(re.search(rf"\bvs\.{name}\b", one.source) for one in _examples(text))


def _run(title, text, names):
    test = doctest.DocTest(_examples(text), dict(names), title, None, 0, text)
    said = []
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append)
    assert not result.failed, "".join(said)


def test_type_checkers_read_the_names_that_are_imported_when_they_are_used():
    front = ast.parse(Path(vs.__file__).read_text(encoding="utf-8"))
    (typed,) = (node for node in front.body if isinstance(node, ast.If))
    homes = {
        alias.name: (one.module or "").removeprefix("virsci_society.")
        for one in typed.body
        if isinstance(one, ast.ImportFrom) and one.module != "typing"
        for alias in one.names
    }
    assert homes == vs._HOMES


@pytest.mark.parametrize("name", [name for name in vs.__all__ if name not in DATA])
def test_a_public_name_has_an_example_that_runs(name, names):
    text = getattr(vs, name).__doc__ or ""
    assert "Example:" in text, f"{name}: no section Example: in its docstring"
    assert _is_used(name, text), f"{name}: no line >>> with vs.{name}"
    _run(name, text, names)


def test_the_names_of_data_have_examples_in_the_docstring_of_the_package(names):
    assert [name for name in DATA if not _is_used(name, vs.__doc__)] == []
    _run("virsci_society", vs.__doc__ or "", names)
