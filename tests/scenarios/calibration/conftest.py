"""A synthetic corpus of known parameters, and a calibration of it that takes seconds."""

import json

import pytest

from virsci_society.scenarios.calibration.calibration_file import read_calibration
from virsci_society.scenarios.calibration.windows import assembly_simulator
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.society.literature.authorships import Authorships

YEAR = 365.0
BASE = """\
# A wordless society for tests.
until: 1y
founding:
  use: yearly
  teams_per_year: 35
  max_teams: 1000
  leaders: {use: fading_papers, exponent: 0.9, shape: 3, memory: 3y}
protocol:
  use: wordless
  team_size: {use: negative_binomial, mean: 3.5, dispersion: 4}
  meetings: 0
  author_order: leader_last
  newcomers: {lead: 0.2, seat: 0.45, spread: 5, transient_share: 0.2}
  repeat_teams: {share: 0.3, stay: 0.6}
  selection: {use: relational, q: 0.6, friends: 0.2}
attention: unlimited
"""
FILE = """\
calibrate: a synthetic field
papers: [jsonl, papers.jsonl]
base: base.yaml
fit: [2006, 2007, 2008]
held_out: 2009
priors:
  protocol.newcomers.seat: {median: 0.5, sd: 0.7}
  protocol.selection.q: {low: 0, high: 1}
targets: [newcomer_rate, q, repeat_rate]
effort: {points: 40, noise: 6, seeds: 5, draws: 5}
"""
FIRST_YEAR, YEARS = 1996, 16


def simulated_papers(simulator, parameters=None, years=YEARS, seed=5):
    """The papers of a field from its first ten people on: (year, id, author names)."""
    start = Authorships.of([(-YEAR, [n, n + 1]) for n in range(0, 10, 2)])
    made = simulator.simulate(parameters or {}, start, 0.0, years * YEAR, seed)
    founders = [(FIRST_YEAR - 1, f"f{n}", [f"a{n}", f"a{n + 1}"]) for n in range(0, 10, 2)]
    return founders + [
        (FIRST_YEAR + int(date // YEAR), f"p{n:05}", [f"a{one}" for one in made.authors_of(n)])
        for n, date in enumerate(made.dates)
    ]


def write_jsonl(path, papers):
    rows = [
        {"id": name, "title": name, "year": year, "authors": [{"id": a, "name": a} for a in team]}
        for year, name, team in papers
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def field_papers(tmp_path_factory):
    """Papers of a synthetic field, made by the mechanism of the base."""
    base = tmp_path_factory.mktemp("base") / "base.yaml"
    base.write_text(BASE, encoding="utf-8")
    return simulated_papers(assembly_simulator(load_scenario(base)))


@pytest.fixture
def place(tmp_path, field_papers):
    """A folder with the base and the papers."""
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    write_jsonl(tmp_path / "papers.jsonl", field_papers)
    return tmp_path


@pytest.fixture
def written(place):
    """A function that writes a calibration file beside them and returns its path."""

    def write(text=FILE, name="field.yaml"):
        path = place / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def read(written):
    """A function that reads a calibration file."""
    return lambda text=FILE, **options: read_calibration(written(text), **options)
