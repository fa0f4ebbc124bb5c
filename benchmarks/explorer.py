"""How large the explorer's page is and how quick in a browser, for 60, 1,000 and 100,000 people.

Runs of ``quickstart`` with 60 and 1,000 scientists are made and written as pages; with ``--full``
also a wordless society of 100,000 (``community/assembly``, about five minutes). Headless Chromium
opens each page by its file: first paint is the time until the network is drawn, by the page's own
mark; dragging is the mean and the 95th percentile of the time between two frames while the mouse
moves the network, without a graphics card. Where no Chromium is
installed only sizes are printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser import CHROMIUM, Browser
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.explorer.conversations import PromptBook, read_prompts
from virsci_society.scenarios.explorer.page import write_explorer
from virsci_society.scenarios.runs.build import build_ecosystem_of, build_society
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.scenarios.runs.run_folder import make_manifest
from virsci_society.society.results.run import Run

REPEATS = 3
MOVES = 60
FRAMES = """new Promise((done) => {
  const gaps = []; let last = performance.now(); const end = last + %d;
  const step = (now) => { gaps.push(now - last); last = now;
    if (now < end) requestAnimationFrame(step); else done(gaps.slice(1)); };
  requestAnimationFrame(step); })"""


def with_words(people: int, folder: Path) -> tuple[Run, PromptBook]:
    """A run of ``quickstart`` with so many people, and its prompts."""
    size = {"population.ecosystem.scientists": people, "population.ecosystem.papers": 10 * people}
    size["founding.teams_per_year"] = 0.25
    scenario = load_scenario("quickstart", **size)
    run_scenario(scenario, folder, page=False)
    run = Run.open(folder)
    return run, read_prompts(folder, len(run.table("calls")), None)


def wordless(people: int) -> Run:
    """A wordless society of so many people over one year, in memory."""
    settings = {
        "population.ecosystem.scientists": people,
        "population.ecosystem.papers": 2 * people,
        "founding.teams_per_year": people / 5,
        "until": "1y",
    }
    scenario: Scenario = load_scenario("community/assembly", **settings)
    ecosystem = build_ecosystem_of(scenario)
    society = build_society(scenario, ecosystem)
    society.run_to_end()
    manifest = make_manifest(scenario, society)
    return Run.from_rows(society.log.all_rows(), manifest, manifest["scenario"])


def drag(browser: Browser) -> list[float]:
    """Milliseconds between frames while the network is dragged to and fro."""
    browser.value(f"window.measured = {FRAMES % 1500}; 0")
    mouse = browser.page.mouse
    mouse.move(400, 400)
    mouse.down()
    for number in range(MOVES):
        way = 150 * abs((number % 40) - 20) / 20
        mouse.move(400 + way, 400 + way / 2)
        time.sleep(0.01)
    mouse.up()
    gaps: list[float] = browser.value("window.measured")
    return gaps


def measure(page: Path) -> dict[str, float]:
    """First paint, words and frames of one page, medians over a few openings."""
    marks: dict[str, list[float]] = {"network": [], "words": [], "frame": [], "frame 95 %": []}
    for _ in range(REPEATS):
        with Browser() as browser:
            browser.open(page)
            browser.until("document.documentElement.dataset.ready === 'true'")
            listed = browser.value(
                "performance.getEntriesByType('mark').map((m) => [m.name, m.startTime])"
            )
            for name, moment in listed:
                marks[name].append(moment / 1000)
            gaps = sorted(drag(browser))
            marks["frame"].append(statistics.mean(gaps))
            marks["frame 95 %"].append(gaps[int(0.95 * len(gaps))])
            if browser.complaints() or browser.requests():
                raise RuntimeError(f"{page}: {browser.complaints()} {browser.requests()}")
    return {name: statistics.median(values) for name, values in marks.items()}


def row(people: int, run: Run, book: PromptBook, folder: Path) -> dict[str, object]:
    """The figures of one size."""
    page = folder / f"explorer-{people}.html"
    start = time.perf_counter()
    left_out = write_explorer(page, run, book)
    figures: dict[str, object] = {
        "people": people,
        "calls": len(run.table("calls")),
        "written s": round(time.perf_counter() - start, 1),
        "MB": round(page.stat().st_size / 1e6, 2),
        "left out": list(left_out),
    }
    if CHROMIUM:
        figures |= {name: round(value, 2) for name, value in measure(page).items()}
    return figures


def main() -> None:
    """Print one line for each size."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--full", action="store_true", help="with 100,000 scientists")
    given.add_argument("--folder", type=Path, help="keep runs and pages here")
    given.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    asked = given.parse_args()
    rows = []
    if not CHROMIUM:
        print("no Chromium is installed: sizes only")
    with tempfile.TemporaryDirectory() as spare:
        folder = asked.folder or Path(spare)
        folder.mkdir(parents=True, exist_ok=True)
        for people in (60, 1_000, *([100_000] if asked.full else [])):
            if people == 100_000:
                run, book = wordless(people), PromptBook()
            else:
                run, book = with_words(people, folder / f"run-{people}")
            found = row(people, run, book, folder)
            rows.append(found)
            print(json.dumps(found), flush=True)
    asked.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
