"""Every page for people against axe-core: contrast, names of controls, headings, landmarks.

The rules are those of WCAG 2.0, 2.1 and 2.2, levels A and AA, and axe-core's own good practice. A
page is checked with all its folds open, light at the width of a desk, dark at that of a phone.
"""

import json
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from tests.browser import CHROMIUM, Browser
from tests.scenarios.study.study_folder import told_of, write_study
from virsci_society.scenarios.explorer.conversations import read_prompts
from virsci_society.scenarios.explorer.page import write_explorer
from virsci_society.scenarios.study.page import write_study_page
from virsci_society.society.results.run import Run

AXE = find_spec("axe_playwright_python")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed"),
    pytest.mark.skipif(AXE is None, reason="axe-core is not installed: extra [dev]"),
]

# axe-core judges no contrast before images, such as shadows at edges, nor of what is out of sight.
OPENED = """(() => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll(".scroll")) one.style.background = "none";
  document.getElementById("view")?.style.setProperty("height", "auto");
})()"""
VIOLATIONS = """axe.run(document, { runOnly: RULES, resultTypes: ["violations"] }).then((found) =>
  found.violations.flatMap((rule) => rule.nodes.map((node) =>
    [rule.id, node.target.join(" "), node.failureSummary.replace(/\\s+/g, " ")].join("; "))))"""
EXPLORED = """new Promise((done) => {
  location.hash = "VIEW";
  setTimeout(done, 50);
})"""


@pytest.fixture(scope="module")
def axe():
    """The source of axe-core."""
    return (Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.slow)])
def browser(request):
    dark = request.param == "dark"
    with Browser(*((390, 844) if dark else (1440, 900)), dark=dark) as made:
        yield made


@pytest.fixture
def violations(browser, axe):
    """What axe-core finds at an address once a condition holds, in each of the views there."""

    def find(address, ready="true", views=("",), rules=RULES):
        browser.page.goto(address)
        browser.until(f"document.readyState === 'complete' && !!({ready})")
        browser.value(f"{axe}; 0")
        found = []
        for view in views:
            if view:
                browser.value(EXPLORED.replace("VIEW", view))
            browser.value(OPENED)
            found += browser.value(VIOLATIONS.replace("RULES", json.dumps(rules)))
        return found

    return find


def test_the_page_of_a_run(violations, small_run):
    assert violations((small_run / "report.html").as_uri()) == []


@pytest.mark.slow
def test_the_page_of_a_study(violations, tmp_path):
    rng, arms = np.random.default_rng(0), {f"size {n}": {"protocol.team_size": n} for n in (2, 4)}
    values = {
        (arm, measure): rng.lognormal(1, 0.4, 5).tolist()
        for arm in arms
        for measure in ("ON", "calls")
    }
    figure = {"title": "Calls", "of": ["ON"], "against": ["calls"]}
    planned = [{"test": "paired", "of": "ON"}]
    told = told_of(arms, ["ON", "calls"], 5, comparisons=planned, figures=[figure])
    page = write_study_page(write_study(tmp_path / "study", told, values))
    assert violations(page.as_uri()) == []


@pytest.mark.slow
def test_the_explorer_in_all_its_views(violations, small_run, tmp_path):
    path, run = tmp_path / "explorer.html", Run.open(small_run)
    write_explorer(path, run, read_prompts(small_run, len(run.table("calls")), None))
    (team, leader), *_ = run.table("teams")[["team", "leader"]].itertuples(index=False)
    paper = run.table("papers")["paper"].iloc[0]
    views = [f"tab={tab}" for tab in ("overview", "people", "teams", "papers", "keys")]
    views += ["tab=search&q=idea", f"who={leader}", f"team={quote(team)}", f"paper={quote(paper)}"]
    assert violations(path.as_uri(), "document.documentElement.dataset.ready", views) == []
