"""A run in which people come and go: stopped and gone on with, forked, replayed, told in tables."""

import pytest

from tests.scenarios.runs.asked import digest, run_until
from virsci_society.metrics.registry import compute_metric
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.execute import run_scenario as run_scenario
from virsci_society.scenarios.runs.fork import Fork
from virsci_society.society.results.digest import compute_run_prefix
from virsci_society.society.results.run import Run

LIVING = """\
name: living
seed: 5
until: 220d
population: {ecosystem: {use: synthetic, scientists: 14, papers: 90, fields: 2, seed: 1}}
founding: {use: poisson, teams_per_year: 1.2}
protocol: {use: virsci, team_size: 2, turns: 1, inviting: at_once, topic: {leaving: off}}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
careers:
  use: rates
  newcomers: {use: apprentices, per_year: 1.0}
  retirement: {use: hazard, per_year: 0.3}
  inactivity: 120d
  mobility: {use: by_coauthors, per_year: 0.5}
metrics: [structure, impact]
"""


def scenario_in(folder, **keys):
    path = folder / "living.yaml"
    path.write_text(LIVING, encoding="utf-8")
    return load_scenario(path, **keys)


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """The run folder of that scenario; tests only read it."""
    folder = tmp_path_factory.mktemp("living")
    return run_scenario(scenario_in(folder), folder / "run")


@pytest.mark.slow
def test_newcomers_are_in_every_table_and_measure(lived):
    run = Run.open(lived)
    people, careers = run.table("scientists"), run.table("careers")
    late = people.dropna(subset=["arrived"])
    assert {"arrived", "moved", "retired", "inactive"} == set(careers["change"])
    assert (
        late["scientist"].tolist() == careers[careers["change"] == "arrived"]["scientist"].tolist()
    )
    assert set(run.table("members")["scientist"]) & set(late["scientist"])
    wrote = compute_metric(run, "productivity").set_index("scientist")
    new = [who for who in wrote.index if who in set(late["scientist"])]
    assert new
    assert wrote.loc[new, "before"].tolist() == [0] * len(new)
    each = compute_metric(run, "inequality").set_index("of")
    assert each.at["papers per scientist", "n"] == len(people)
    there = compute_metric(run, "presence")
    assert there["present"].iloc[0] == 14 - (careers["date"] == 0).sum()
    assert (
        there["present"].iloc[-1]
        == 14 + len(late) - careers["change"].isin(["retired", "inactive"]).sum()
    )
    page = (lived / "report.html").read_text()
    assert "Who came, who went" in page


@pytest.mark.slow
def test_it_is_the_same_in_another_process_and_with_one_call_at_a_time(nursery, lived, here):
    (here / "living.yaml").write_text(LIVING, encoding="utf-8")
    one_at_a_time = ("--set", "backend.in_flight=1", "--set", "metrics=[]")
    done = nursery.society("run", "living.yaml", "--out", "again", *one_at_a_time)
    assert done.returncode == 0, done.stderr
    assert digest(here / "again") == digest(lived)


@pytest.mark.slow
@pytest.mark.usefixtures("no_results")
def test_a_stopped_run_goes_on_to_the_same_end(lived, here, monkeypatch):
    scenario = scenario_in(here)
    run_until(monkeypatch, 60, lambda: run_scenario(scenario, here / "run"))
    assert not (here / "run" / "digest").exists()
    run_scenario(scenario, here / "run")
    assert digest(here / "run") == digest(lived)
    assert replay(here / "run") == digest(lived).strip()


@pytest.mark.slow
@pytest.mark.usefixtures("no_results")
def test_a_fork_shares_everybody_who_came_before_its_day(lived, here):
    past = Fork.of(lived, "90d", ["careers.newcomers.per_year=4.0"]).run(here / "fork")
    ours, theirs = Run.open(here / "fork"), Run.open(lived)
    assert past == compute_run_prefix(ours, 90.0) == compute_run_prefix(theirs, 90.0)
    early, late = (
        [one.table("careers").query(when)["scientist"].tolist() for one in (ours, theirs)]
        for when in ("date < 90", "date >= 90 and change == 'arrived'")
    )
    assert early[0] == early[1] != []
    assert len(late[0]) > 1.5 * len(late[1])


@pytest.mark.slow
@pytest.mark.usefixtures("no_results")
def test_a_longer_run_begins_with_the_shorter_one(lived, here):
    run_scenario(scenario_in(here, until="280d", metrics=[]), here / "longer")
    longer, shorter = Run.open(here / "longer"), Run.open(lived)
    assert compute_run_prefix(longer, 220.0) == compute_run_prefix(shorter, 220.0)


def test_where_nobody_comes_or_goes_a_scenario_is_what_it_was(small):
    assert small.to_data()["careers"] is None
    assert "careers" not in small.identity()
    living = small.set("careers", {"use": "rates"})
    assert living.identity()["careers"] == {"use": "rates"}
