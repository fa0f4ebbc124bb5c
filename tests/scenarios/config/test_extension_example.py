"""The example package of ``examples/extension``, by the paths of its parts."""

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
import scipy.stats

from tests.command_line import society
from virsci_society.metrics.report import page
from virsci_society.scenarios.config import registry
from virsci_society.society.results.run import Run

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "extension"
PATHS = {
    "protocol": "society_extension.alone:Alone",
    "protocol.selection": "society_extension.regulars:Regulars",
    "backend": "society_extension.my_model:MyModel",
    "backend.acceptance": "society_extension.friends:Friends",
    "publication": "society_extension.issues:Issues",
}
METRIC = "society_extension.coauthors:papers_by_authors"


def settings(*pairs):
    return [part for pair in pairs for part in ("--set", pair)]


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch):
    """What is imported here is forgotten: a later fault of ours must not be told as a user's."""
    monkeypatch.setattr(registry, "_imported", {})


@pytest.fixture
def importable(monkeypatch, here):
    """The package on the path of modules."""
    site = here / "site"
    shutil.copytree(EXAMPLE / "society_extension", site / "society_extension")
    monkeypatch.syspath_prepend(site)
    # Its page adds nothing here.
    monkeypatch.setattr(page, "write_page", lambda run, folder: folder)
    yield site
    for name in [name for name in sys.modules if name.startswith("society_extension")]:
        del sys.modules[name]


def test_the_page_links_every_file_of_the_example():
    text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    linked = re.findall(r"^\[\w+\.py\]\(\.\./examples/extension/(.*)\)$", text, re.MULTILINE)
    files = {path.relative_to(EXAMPLE).as_posix() for path in EXAMPLE.rglob("*.py")}
    assert set(linked) == files - {"society_extension/__init__.py"}


def use(*keys):
    return [f"{key}.use={PATHS[key]}" for key in keys]


@pytest.mark.usefixtures("importable")
def test_parts_are_used_by_path_once_they_are_trusted(small_text):
    Path("small.yaml").write_text(small_text)
    used = use("protocol.selection", "backend.acceptance", "publication")
    asked = settings(*used, f"metrics=[cost, degrees, '{METRIC}']", "until=12w")
    refused = society("check", "small.yaml", *asked)
    assert refused.exit_code == 2
    for path in (PATHS["protocol.selection"], METRIC):
        assert f"'{path}' is outside code, which would be executed" in refused.stderr
    done = society("run", "small.yaml", *asked, "--out", "run", "--trust")
    assert done.exit_code == 0, done.output
    run = Run.open("run")
    assert list(run.metric("papers_by_authors").columns) == ["authors", "papers"]
    assert {"calls_by_act", "degrees"} <= set(run.metric_names())
    assert "structure" not in run.metric_names()
    accepted = run.table("invitations").query("outcome == 'accepted'")
    assert (accepted["load"] < 3).all()
    assert society("replay", "run").exit_code == 2
    Path("runs").mkdir()
    shutil.copytree("run", "runs/quickstart-0")
    page_text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(# measure_it.py\n.*?)```", page_text, re.DOTALL)
    Path("measure_it.py").write_text(code)
    runpy.run_path("measure_it.py")
    assert society("replay", "run", "--trust").exit_code == 0


@pytest.mark.usefixtures("importable")
def test_a_protocol_and_a_backend_of_ones_own_run_together(small_text):
    text = re.sub(
        r"protocol: .*", f"protocol: {{use: '{PATHS['protocol']}', topic: tides}}", small_text
    )
    Path("small.yaml").write_text(text)
    asked = settings(*use("backend"), "until=12w", "metrics=[cost]")
    done = society("run", "small.yaml", *asked, "--out", "run", "--trust")
    assert done.exit_code == 0, done.output
    assert "answers: the model small" in done.output
    run = Run.open("run")
    assert set(run.table("teams")["protocol"]) == {"alone"}
    assert json.loads((run.folder or Path()).joinpath("manifest.json").read_text())["prompts"]
    fact = ("facts", "run", "--only", "society_extension.pairs:Pairs")
    assert "is outside code" in society(*fact).stderr
    judged = society(*fact, "--trust", "--draws", "3", "--json")
    assert judged.exit_code == 0, judged.output
    assert "society_extension.pairs:Pairs" in judged.output


OUTCOME = "papers_by_authors.papers.sum"
STUDY = f"""\
study: Do larger teams write fewer papers in seven weeks?
base: small.yaml
set: {{metrics: ['{METRIC}'], until: 7w, founding.count: 6}}
arms: {{grid: {{protocol.team_size: [2, 4]}}}}
replicates: 3
measures: [{OUTCOME}]
comparisons: [{{test: paired, of: {OUTCOME}}}]
"""


@pytest.mark.slow
@pytest.mark.usefixtures("importable")
def test_a_measure_from_outside_is_the_outcome_of_a_study(small_text):
    Path("small.yaml").write_text(small_text)
    Path("s.yaml").write_text(STUDY.replace("papers.sum", "paper.sum"))
    refused = society("study", "run", "s.yaml", "--trust")
    assert "no column of papers_by_authors is called 'paper'" in refused.stderr
    assert "did you mean 'papers'?" in refused.stderr
    Path("s.yaml").write_text(STUDY)
    done = society("study", "run", "s.yaml", "--out", "s", "--trust")
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


@pytest.mark.usefixtures("importable")
def test_an_importer_of_ones_own_reads_a_source():
    Path("export.jsonl").write_text(EXPORT)
    asked = ("export.jsonl", "--boundary", "2005", "--out")
    path = "society_extension.our_export:OurExport"
    done = society("ecosystem", "build", path, *asked, "eco/ours", "--trust")
    assert done.exit_code == 0, done.output
    refused = society("ecosystem", "build", path, *asked, "eco/other")
    assert refused.exit_code == 2
    assert "--trust" in refused.stderr
    wrong = society(
        "ecosystem", "build", "society_extension.friends:Friends", *asked, "eco/no", "--trust"
    )
    assert wrong.exit_code == 2
    assert "is not a subclass" in wrong.stderr
    assert society("ecosystem", "build", "no_such", *asked, "eco/no").exit_code == 2


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("metrics=[coast]", "did you mean 'cost'?"),
        ("metrics=[nowhere:at_all]", "'nowhere:at_all' cannot be imported"),
        ("metrics=['virsci_society.metrics.registry:FAMILIES']", "is not a function"),
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
            idea = work.submit(work.team.leader, "idea", Idea, seat=0, found=near, **slots)
            yield idea
            return work.candidate(work.team.leader, idea, near)
"""


def test_papers_that_could_not_be_cited_are_told(importable, small_text):
    (importable / "society_extension" / "lost.py").write_text(LOST, encoding="utf-8")
    lost = "protocol: {use: 'society_extension.lost:Lost'}"
    Path("small.yaml").write_text(re.sub(r"protocol: .*", lost, small_text))
    checked = society("check", "small.yaml", "--trust")
    assert checked.exit_code == 2, checked.output
    assert "given papers as 'found'" in checked.stderr
    assert "give them as 'references'" in checked.stderr
