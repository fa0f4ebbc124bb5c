"""Fixtures: a folder to write scenarios into, and one small run that many tests read."""

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.schema import load_scenario

# A whole society in a second: a dozen people, one or two teams, half a year.
SMALL = """\
name: small
seed: 3
until: 26w
population: {ecosystem: {use: synthetic, scientists: 12, papers: 90, fields: 2, seed: 1}}
founding: {use: once, count: 2, every: 7d}
protocol: {use: virsci, team_size: 2, turns: 1, inviting: at_once, topic: {leaving: off}}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
"""


@pytest.fixture(scope="session")
def grown():
    """Invented ecosystems by their settings and seed, the last few that were asked for."""
    return {}


@pytest.fixture(autouse=True)
def _grow_once(grown, monkeypatch):
    """Let runs of the same scenario share their ecosystem, which no run changes."""
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

    generate = Synthetic.generate

    def shared(self, seed):
        key = self.model_dump_json(), seed
        ecosystem = grown.pop(key, None) or generate(self, seed)
        while len(grown) > 8:
            del grown[next(iter(grown))]
        grown[key] = ecosystem
        return ecosystem

    monkeypatch.setattr(Synthetic, "generate", shared)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty current folder, so that messages show short paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(here):
    """Write a file below the current folder."""

    def writing(name, text):
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return writing


@pytest.fixture
def faults():
    """The lines of the InputError that a call raises."""

    def of(call):
        with pytest.raises(InputError) as caught:
            call()
        return str(caught.value).splitlines()

    return of


@pytest.fixture(scope="session")
def small_text():
    """The text of a scenario that runs in a second."""
    return SMALL


@pytest.fixture(scope="session")
def small_run(tmp_path_factory):
    """The run folder of that scenario; tests only read it."""
    from virsci_society import run_scenario

    folder = tmp_path_factory.mktemp("small")
    (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
    return run_scenario(load_scenario(folder / "small.yaml"), folder / "run")


@pytest.fixture
def small(write):
    """That scenario, checked."""
    return load_scenario(write("small.yaml", SMALL))


@pytest.fixture
def no_page(monkeypatch):
    """Write no page and no summary: for tests that run more than once and look at none."""
    monkeypatch.setattr("virsci_society.metrics.report.page.write_page", lambda run, folder: folder)
    summary = "virsci_society.metrics.summary.write_summary"
    monkeypatch.setattr(summary, lambda run, folder: None)


@pytest.fixture
def no_results(no_page, monkeypatch):
    """Write no measures either: they take half of the time of a small run."""
    monkeypatch.setattr(
        "virsci_society.scenarios.runs.run_folder.measure_all", lambda run, scenario: {}
    )
