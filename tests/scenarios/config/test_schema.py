"""Whole scenarios: bad input told all at once, identity, changes, the library."""

import re
from pathlib import Path

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.scenarios.config.document import Document, library
from virsci_society.scenarios.config.ecosystem_folder import Folder
from virsci_society.scenarios.config.schema import load_scenario, read_scenario
from virsci_society.scenarios.config.yaml_io import parse_yaml
from virsci_society.scenarios.runs.run_folder import resolved_text
from virsci_society.scenarios.runs.run_journal import identity_hash
from virsci_society.society.kernel.durations import FixedDuration

BAD = """\
extends: base.yaml
sed: 3
turns: 3
until: 10x
founding:
  use: poisson
  max_teams: 0
protocol:
  topic: {leaving: offf}
  references: {ideas: maybe, conut: 3}
metrics: [novelty, tems]
backend: {in_flight: 0, latensy: 3}
novelty: {k: 0, kk: 1}
"""
TOLD = """\
bad.yaml:2:1: sed: unknown key; did you mean 'seed'\\?
bad.yaml:3:1: turns: unknown key; did you mean 'protocol.turns'\\?
bad.yaml:4:1: until: '10x' is not a duration; write 10m, 2h, 3d, 1w, 18mo or 2y
bad.yaml:7:3: founding.max_teams: got 0, expected at least 1
bad.yaml:9:11: protocol.topic.leaving: got 'offf', expected 'on' or 'off'; did you mean 'off'\\?
bad.yaml:10:16: protocol.references.ideas: got 'maybe', expected 'on' or 'off'
bad.yaml:10:30: protocol.references.conut: unknown key; did you mean 'count'\\?
bad.yaml:11:20: metrics.1: got 'tems', expected 'novelty' or .*; did you mean 'teams'\\?
bad.yaml:12:11: backend.in_flight: got 0, expected at least 1
bad.yaml:12:25: backend.latensy: unknown key; did you mean 'latency'\\?
bad.yaml:13:11: novelty.k: got 0, expected at least 1
bad.yaml:13:17: novelty.kk: unknown key; did you mean 'k'\\?
base.yaml:1:12: protocol.turnz: unknown key; did you mean 'turns'\\?
--set protocol.topic: protocol.topic.given: got 3, expected text
--set time.deadlin: unknown key; did you mean 'deadline'\\?
"""


def test_everything_wrong_is_told_at_once_with_line_and_column(write, faults):
    write("base.yaml", "protocol: {turnz: 1}\n")
    bad = write("bad.yaml", BAD)
    settings = ["protocol.topic={given: 3}", "time.deadlin=1d"]
    lines = faults(lambda: load_scenario(bad, settings=settings))
    expected = TOLD.splitlines()
    assert len(lines) == len(expected)
    for line, pattern in zip(sorted(lines, key=_order), expected, strict=True):
        assert re.fullmatch(pattern.replace("bad.yaml", r"bad\.yaml"), line), line


def _order(line):
    place = line.split(": ")[0].split(":")
    kind = ("bad.yaml", "base.yaml").index(place[0]) if place[0].endswith("yaml") else 2
    return (kind, int(place[1]), int(place[2])) if kind < 2 else (kind, 0, line > "--set q")


def test_a_key_that_would_move_the_cursor_is_shown_escaped(write, faults):
    path = write("s.yaml", '"\\e[2J\\nseed": 1\nname: "\\e[1m"\n')
    lines = faults(lambda: load_scenario(path))
    assert lines[0].startswith("s.yaml:1:1: \\x1b[2J\\nseed: unknown key")
    assert lines[1].startswith("s.yaml:2:1: name: got '\\x1b[1m', expected ")
    assert all(line.isprintable() for line in lines)


def test_step_is_placed_where_it_was_written_even_if_until_was_changed(write, faults):
    path = write("s.yaml", "step: 4w\nuntil: 1y\n")
    assert faults(lambda: load_scenario(path, settings=["until=1w"])) == [
        "s.yaml:1:1: step: step is longer than until; make it shorter, or until longer"
    ]


def test_a_strangers_scenario_runs_nothing(write, faults):
    write("theirs.py", "from pathlib import Path\nPath('ran').touch()\n")
    path = write("theirs.yaml", "extends: quickstart\nprotocol:\n  use: theirs:Protocol\n")
    (line,) = faults(lambda: load_scenario(path))
    assert line.startswith("theirs.yaml:3:3: protocol.use: 'theirs:Protocol' is outside code")
    assert "--trust" in line
    assert not Path("ran").exists()


def test_a_trusted_class_is_used_and_named_in_the_resolved_scenario(write, here, monkeypatch):
    write(
        "mine_durations.py",
        "from virsci_society.society.kernel.durations import Duration\n"
        "class Nap(Duration):\n"
        "    minutes: int = 5\n"
        "    def sample(self, rng):\n"
        "        return self.minutes / 1440\n",
    )
    monkeypatch.syspath_prepend(str(here))
    setting = "time.utterance={use: mine_durations:Nap, minutes: 7}"
    scenario = load_scenario("quickstart", settings=[setting], trust=True)
    assert scenario.to_data()["time"]["utterance"] == {"use": "mine_durations:Nap", "minutes": 7}
    again = read_scenario(Document(parse_yaml(resolved_text(scenario), "s").data), trust=True)
    assert again == scenario
    with pytest.raises(InputError, match="--trust"):
        read_scenario(Document(parse_yaml(resolved_text(scenario), "s").data))


def settings_of(name):
    return ["population.ecosystem.path=eco"] if name == "community/vis" else []


@pytest.mark.parametrize("name", library())
def test_every_scenario_of_the_library_is_right_and_comes_back_equal(name):
    scenario = load_scenario(name, settings=settings_of(name))
    assert scenario.name == name
    assert read_scenario(Document(parse_yaml(resolved_text(scenario), "s").data)) == scenario


def test_the_papers_scenario_is_the_papers():
    scenario = load_scenario("virsci/paper")
    protocol = scenario.protocol
    assert isinstance(protocol, VirSci)
    settings = protocol
    assert (settings.team_size, settings.turns, settings.min_size) == (4, 5, "all")
    assert scenario.attention == "unlimited"
    assert scenario.time.homework is None
    assert scenario.time.utterance == FixedDuration(length="10m")
    times = (scenario.time.meeting_notice, scenario.time.reply_window)
    assert (*times, scenario.time.publication_delay) == (0, 0, 0)
    single = load_scenario("virsci/single")
    assert single.set("protocol.team_size", 4).set("name", "virsci/paper") == scenario


def test_a_training_cut_off_is_a_year_or_a_month_and_no_part_of_what_happens(write, faults):
    text = "backend: {use: offline, cutoff: %s}"
    for written in ("2023", "2023-12", '"2023-12"'):
        stated = load_scenario(write("s.yaml", text % written))
        assert stated.backend.cutoff == written.strip('"')
        assert stated.identity() == {}
    for written in ("2023-13", "soon", "23", "true", "2023-12-01"):
        write("s.yaml", text % written)
        assert "backend.cutoff" in faults(lambda: load_scenario("s.yaml"))[0]


def test_python_arguments_and_set_are_the_same(here):
    by_argument = load_scenario("quickstart", **{"protocol.turns": 3, "seed": 9})
    assert load_scenario("quickstart", settings=["protocol.turns=3", "seed=9"]) == by_argument
    scenario = load_scenario("quickstart")
    assert scenario.set("protocol.turns", 3).set("seed", 9) == by_argument
    assert load_scenario("quickstart") == scenario
    with pytest.raises(InputError, match=r"^protocol\.turnz: unknown key.*did you mean 'turns'"):
        scenario.set("protocol.turnz", 3)


def test_a_path_in_a_file_is_relative_to_the_file(write, here):
    text = "population: {ecosystem: {use: folder, path: ../eco}}\n"
    scenario = load_scenario(write("sub/s.yaml", text))
    assert scenario.population.ecosystem == Folder(path=here / "sub" / ".." / "eco")
    given = load_scenario("community/vis", settings=["population.ecosystem.path=eco"])
    assert given.population.ecosystem == Folder(path=here / "eco")


@pytest.mark.parametrize(
    ("key", "value", "happens"),
    [
        *(("name", "other", False), ("until", "3y", False), ("step", "1d", False)),
        *(("out", "elsewhere", False), ("metrics", ["cost"], False), ("novelty", {"k": 3}, False)),
        *(("backend.in_flight", 1, False), ("backend.latency", 0.5, False)),
        *(("backend.budget.tokens", 10, False), ("backend.retry.attempts", 2, False)),
        *(("seed", 99, True), ("protocol.turns", 4, True), ("attention", "unlimited", True)),
        *(("protocol.selection.explore", 2.0, True), ("founding.max_teams", 1, True)),
        *(("time.homework", None, True), ("population.ecosystem.fields", 3, True)),
    ],
)
def test_what_happens_is_identity_and_how_it_is_run_is_not(here, key, value, happens):
    scenario = load_scenario("quickstart")
    assert (identity_hash(scenario.set(key, value)) != identity_hash(scenario)) is happens


def test_an_ecosystem_folder_counts_by_its_content_not_its_place(write, here):
    for place in ("a", "b", "c"):
        write(f"{place}/manifest.json", '{"x": 1}' if place != "c" else '{"x": 2}')
    a, b, c = (
        load_scenario("community/vis", settings=[f"population.ecosystem.path={place}"])
        for place in "abc"
    )
    assert identity_hash(a) == identity_hash(b) != identity_hash(c)
    gone = load_scenario("community/vis", settings=["population.ecosystem.path=gone"])
    with pytest.raises(InputError, match="no such ecosystem folder; build one"):
        identity_hash(gone)


def test_settings_need_no_brackets():
    """``--set`` reads the same in zsh and in bash: nothing in it is a pattern of the shell."""
    settings = [
        *("metrics=teams,cost", "interventions.0.at=1y", "interventions.0.set.protocol.turns=3"),
        *("interventions.1.at=2y", "interventions.1.remove_scientists.count=2"),
        *("protocol.team_size.use=stated", "protocol.team_size.weights.3=0.5"),
        "protocol.team_size.weights.4=0.5",
    ]
    scenario = load_scenario("quickstart", settings=settings)
    assert scenario.metrics == ("teams", "cost")
    first, second = scenario.interventions
    assert (first.at, first.set) == (365.0, {"protocol": {"turns": 3}})
    assert second.remove_scientists is not None
    assert second.remove_scientists.count == 2
    assert not any(sign in setting for setting in settings for sign in "[]{}*?()<>|&;$!\"' ")


WORKLOAD = """\
extends: quickstart
time:
  member_effort: 0.8
  stage_effort: {topic: 2, abstract: {leader: 3, member: 0.5}}
  switching: 2h
interventions:
  - {at: 90d, set: {time.switching: 1h, time.stage_effort.abstract.leader: 1}}
"""


def test_effort_and_switching_are_read_resolved_and_changed_by_an_intervention(write):
    scenario = load_scenario(write("s.yaml", WORKLOAD))
    assert scenario.time.effort(2.0, "leader", "abstract") == 2.0 * 1.5 * 3
    assert scenario.time.effort(2.0, "member", "topic") == pytest.approx(2.0 * 0.8 * 2, abs=1e-6)
    assert scenario.time.switching == pytest.approx(2 / 24, abs=1e-6)
    again = read_scenario(Document(parse_yaml(resolved_text(scenario), "s").data))
    assert again == scenario
    ((_, changed),) = scenario.after_interventions()
    assert changed.time.switching == pytest.approx(1 / 24, abs=1e-6)
    assert changed.time.stage_effort == {"topic": 2, "abstract": {"leader": 1, "member": 0.5}}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("0.8", "0", r"s\.yaml:3:\d+: time\."),
        ("topic: 2", "topic: -1", r"s\.yaml:4:\d+: time\."),
        ("leader: 3", "guest: 3", r"s\.yaml:4:\d+: time\."),
        ("2h", "2q", r"s\.yaml:5:\d+: time\."),
        ("topic: 2", "topics: 2", r"s\.yaml:4:\d+.*not a stage.*did you mean 'topic'"),
        ("time:", "protocol: {use: wordless}\ntime:", "expected one of meetings, publication"),
    ],
)
def test_what_is_no_factor_role_duration_or_stage_is_refused(write, faults, old, new, told):
    path = write("s.yaml", WORKLOAD.replace(old, new))
    assert re.search(told, faults(lambda: load_scenario(path))[0])
