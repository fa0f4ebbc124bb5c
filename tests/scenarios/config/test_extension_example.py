"""The example package of ``examples/extension``, by its entry points and by its paths."""

import json
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
import scipy.stats

from tests.command_line import society
from virsci_society.metrics.report import page
from virsci_society.scenarios.config import registry
from virsci_society.scenarios.config.registry import GROUP, installed_parts
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.society.results.run import Run

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "extension"
PROJECT = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PARTS = {
    (group.removeprefix(GROUP), name): path
    for group, entries in PROJECT["entry-points"].items()
    for name, path in entries.items()
}
SHORT = ("until=12w", "metrics=[cost, degrees, papers_by_authors]")


def settings(*pairs):
    return [part for pair in pairs for part in ("--set", pair)]


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch):
    """What is imported here is forgotten: a later fault of ours must not be told as a user's."""
    monkeypatch.setattr(registry, "_imported", {})


@pytest.fixture
def importable(monkeypatch, here):
    """The package on the path of modules, not installed."""
    site = here / "site"
    shutil.copytree(EXAMPLE / "society_extension", site / "society_extension")
    monkeypatch.syspath_prepend(site)
    # Its page adds nothing here.
    monkeypatch.setattr(page, "write_page", lambda run, folder: folder)
    installed_parts.cache_clear()
    yield site
    installed_parts.cache_clear()
    for name in [name for name in sys.modules if name.startswith("society_extension")]:
        del sys.modules[name]


@pytest.fixture
def installed(importable):
    """The package as pip would leave it: beside it a ``.dist-info`` with its entry points."""
    info = importable / "society_extension_example-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    )
    lines = []
    for group, entries in PROJECT["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {path}" for name, path in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return importable


def test_there_is_one_part_of_each_kind_that_can_be_added():
    kinds = {kind for kind, _ in PARTS}
    assert kinds >= {"metrics", "importers", "protocols", "selection", "backends", "acceptance"}


def test_the_page_links_every_file_of_the_example():
    text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    linked = re.findall(r"^\[\w+\.py\]\(\.\./examples/extension/(.*)\)$", text, re.MULTILINE)
    files = {path.relative_to(EXAMPLE).as_posix() for path in EXAMPLE.rglob("*.py")}
    assert set(linked) == files - {"society_extension/__init__.py"}


@pytest.mark.usefixtures("installed")
def test_installed_parts_are_listed():
    shown = society("list").output
    for (kind, name), path in PARTS.items():
        line = f"{kind:12} {name:20} {path} (society-extension-example 0.1.0)"
        assert f"  {line}\n" in shown
    assert "regulars" in society("list", "selection").output
    assert "from installed packages: papers_by_authors" in society("list", "metrics").output


@pytest.mark.usefixtures("installed")
def test_installed_parts_are_used_by_name_without_trust(small_text):
    Path("small.yaml").write_text(small_text)
    used = ("protocol.selection.use=regulars", "backend.acceptance.use=friends")
    done = society(
        "run", "small.yaml", *settings(*used, "publication.use=issues", *SHORT), "--out", "run"
    )
    assert done.exit_code == 0, done.output
    run = Run.open("run")
    assert list(run.metric("papers_by_authors").columns) == ["authors", "papers"]
    assert {"calls_by_act", "degrees"} <= set(run.metric_names())
    assert "structure" not in run.metric_names()
    accepted = run.table("invitations").query("outcome == 'accepted'")
    assert (accepted["load"] < 3).all()
    # The resolved scenario names them as the user did, so it runs again without trust.
    again = load_scenario("run/scenario.yaml")
    assert again.to_data()["protocol"]["selection"]["use"] == "regulars"
    assert society("replay", "run").exit_code == 0


@pytest.mark.usefixtures("installed")
def test_an_installed_protocol_and_backend_run_together(small_text):
    text = re.sub(r"protocol: .*", "protocol: {use: alone, topic: tides}", small_text)
    Path("small.yaml").write_text(text)
    done = society("run", "small.yaml", *settings("backend.use=my_model", *SHORT), "--out", "run")
    assert done.exit_code == 0, done.output
    assert "answers: the model small" in done.output
    run = Run.open("run")
    assert set(run.table("teams")["protocol"]) == {"alone"}
    assert json.loads((run.folder or Path()).joinpath("manifest.json").read_text())["prompts"]


OUTCOME = "papers_by_authors.papers.sum"
STUDY = f"""\
study: Do larger teams write fewer papers in seven weeks?
base: small.yaml
set: {{metrics: [papers_by_authors], until: 7w, founding.count: 6}}
arms: {{grid: {{protocol.team_size: [2, 4]}}}}
replicates: 3
measures: [{OUTCOME}]
comparisons: [{{test: paired, of: {OUTCOME}}}]
"""


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_a_measure_from_outside_is_the_outcome_of_a_study(small_text):
    Path("small.yaml").write_text(small_text)
    Path("s.yaml").write_text(STUDY.replace("papers.sum", "paper.sum"))
    refused = society("study", "run", "s.yaml")
    assert "no column of papers_by_authors is called 'paper'" in refused.stderr
    assert "did you mean 'papers'?" in refused.stderr
    Path("s.yaml").write_text(STUDY)
    done = society("study", "run", "s.yaml", "--out", "s")
    assert done.exit_code == 0, done.output
    values = pd.read_parquet("s/results.parquet").set_index(["arm", "replicate"])["value"]
    for run in range(6):
        table = Run.open(f"s/runs/{run:04d}").metric("papers_by_authors")
        arm = "team_size=2" if run < 3 else "team_size=4"
        assert values[arm, run % 3] == pytest.approx(float(table["papers"].sum()))
    known = scipy.stats.ttest_rel(values["team_size=4"], values["team_size=2"])
    row = pd.read_csv("s/report/differences.csv").iloc[0]
    assert row["difference"] == pytest.approx(
        (values["team_size=4"] - values["team_size=2"]).mean()
    )
    assert row["p"] == pytest.approx(known.pvalue)


@pytest.mark.usefixtures("importable")
def test_parts_are_used_by_path_once_they_are_trusted(small_text):
    Path("small.yaml").write_text(small_text)
    selection = PARTS["selection", "regulars"]
    metric = PARTS["metrics", "papers_by_authors"]
    asked = settings(f"protocol.selection.use={selection}", f"metrics=[{metric}]", "until=8w")
    refused = society("check", "small.yaml", *asked)
    assert refused.exit_code == 2
    for path in (selection, metric):
        assert f"'{path}' is code from outside and would be run" in refused.stderr
    done = society("run", "small.yaml", *asked, "--out", "run", "--trust")
    assert done.exit_code == 0, done.output
    assert Run.open("run").metric_names() == ["papers_by_authors"]
    assert society("replay", "run").exit_code == 2
    Path("runs").mkdir()
    shutil.copytree("run", "runs/quickstart-0")
    page_text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(# measure_it.py\n.*?)```", page_text, re.DOTALL)
    Path("measure_it.py").write_text(code)
    runpy.run_path("measure_it.py")
    assert society("replay", "run", "--trust").exit_code == 0


EXPORT = "".join(
    json.dumps(
        {
            "key": f"a{number}",
            "name": f"Waves and tides {number}",
            "summary": "Waves and tides move water and sand along the coast.",
            "published": 2000 + number % 7,
            "by": ["Ada L.", "Bo M."],
        }
    )
    + "\n"
    for number in range(40)
)


def test_an_installed_importer_reads_a_source(installed):
    Path("export.jsonl").write_text(EXPORT)
    asked = ("export.jsonl", "--boundary", "2005", "--out")
    done = society("ecosystem", "build", "ours", *asked, "eco/ours")
    assert done.exit_code == 0, done.output
    assert json.loads(Path("eco/ours/manifest.json").read_text())["kind"] == "ours"
    path = PARTS["importers", "ours"]
    refused = society("ecosystem", "build", path, *asked, "eco/other")
    assert refused.exit_code == 2
    assert "--trust" in refused.stderr
    wrong = society(
        "ecosystem", "build", "society_extension.friends:Friends", *asked, "eco/no", "--trust"
    )
    assert wrong.exit_code == 2
    assert "is no importer" in wrong.stderr
    assert society("ecosystem", "build", "no_such", *asked, "eco/no").exit_code == 2


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("metrics=[coast]", "did you mean 'cost'?"),
        ("metrics=[nowhere:at_all]", "'nowhere:at_all' cannot be imported"),
        ("metrics=['virsci_society.metrics.measures:FAMILY_METRICS']", "is no function"),
    ],
)
def test_a_name_that_is_none_is_told(setting, message):
    wrong = society("check", "quickstart", "--set", setting, "--trust")
    assert wrong.exit_code == 2
    assert message in wrong.stderr


def test_a_metric_has_to_return_a_table(here, small_text):
    Path("wrong_metric.py").write_text("def number(run):\n    return 1\n")
    Path("small.yaml").write_text(small_text)
    asked = settings("metrics=[wrong_metric:number]", "until=1w")
    wrong = society("run", "small.yaml", *asked, "--out", "run", "--trust")
    assert wrong.exit_code == 2
    assert "wrong_metric:number returned int; a metric returns a DataFrame" in wrong.stderr


@pytest.mark.usefixtures("installed")
def test_no_package_takes_a_name_of_ours(here):
    info = next((here / "site").glob("*.dist-info"))
    (info / "entry_points.txt").write_text(
        "[virsci_society.selection]\nuniform = society_extension.regulars:Regulars\n"
        "[virsci_society.metrics]\ndegrees = society_extension.coauthors:papers_by_authors\n"
    )
    chosen = load_scenario("quickstart", **{"protocol.selection.use": "uniform"})
    selection = chosen.protocol.policy
    assert type(selection).__name__ == "Uniform"
    assert load_scenario("quickstart", metrics=["degrees"]).metrics == ("degrees",)


@pytest.mark.slow
def test_its_own_build_backend_installs_the_example(tmp_path):
    """Not by pip, whose builds fetch a backend from the network."""
    pytest.importorskip("setuptools")
    copied, target = shutil.copytree(EXAMPLE, tmp_path / "copy"), tmp_path / "target"
    into = ("--install-dir", str(target))
    setup = "from setuptools import setup; setup()"
    command = [sys.executable, "-c", setup, "build", "install_lib", *into, "install_egg_info"]
    subprocess.run([*command, *into], check=True, cwd=copied, capture_output=True)
    assert (target / "society_extension" / "prompts" / "essay.txt").is_file()
    (info,) = target.glob("*-info/entry_points.txt")
    assert all(path in info.read_text() for path in PARTS.values())


LOST = """
import virsci_society as vs
from virsci_society.protocols.ideas import Idea


class Lost(vs.ResearchSystem):
    'Papers stand under a name of its own.'

    system = "lost"

    def find_idea(self, work):
        return (yield from work.lab.stage("ideas", self.think(work)))

    def think(self, work):
        with (yield from work.hold_round("ideas", 1, 1)):
            near = work.search(work.topic)
            slots = {"archive": (), "summaries": (), "said": (), "references": ()}
            idea = work.pose(work.team.leader, "idea", Idea, seat=0, found=near, **slots)
            yield idea
            return work.candidate(work.team.leader, idea, near)
"""


@pytest.mark.usefixtures("installed")
def test_papers_that_could_not_be_cited_are_told(installed, small_text):
    (installed / "society_extension" / "lost.py").write_text(LOST, encoding="utf-8")
    lost = "protocol: {use: 'society_extension.lost:Lost'}"
    Path("small.yaml").write_text(re.sub(r"protocol: .*", lost, small_text))
    checked = society("check", "small.yaml", "--trust")
    assert checked.exit_code == 2, checked.output
    assert "given papers as 'found'" in checked.stderr
    assert "give them as 'references'" in checked.stderr
