"""Two futures of one run share its past, call for call (rules 22 and 23)."""

import json

import pytest
from typer.testing import CliRunner

from tests.edited_folders import reseal
from tests.scenarios.runs.asked import Asked, digest, run_until
from virsci_society.agents.errors import Diverged, InputError
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.execute import run_scenario as run_scenario
from virsci_society.scenarios.runs.fork import Fork
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.society.results.digest import compute_run_prefix, digest_content, digest_tables
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES

pytestmark = pytest.mark.usefixtures("no_results")
AT = 40.0


def asked_of(folder):
    calls = Run.open(folder).table("calls")
    return dict(zip(calls["call"], calls["asked"], strict=True))


@pytest.fixture(scope="module")
def parent(tmp_path_factory, small_text):
    """A finished run of four teams."""
    folder = tmp_path_factory.mktemp("parent")
    (folder / "small.yaml").write_text(small_text, encoding="utf-8")
    scenario = load_scenario(
        folder / "small.yaml", **{"founding.count": 4, "founding.every": 14.0, "metrics": ["cost"]}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("virsci_society.metrics.report.page.write_page", lambda *_: None)
        return run_scenario(scenario, folder / "run")


@pytest.mark.slow
def test_a_fork_shares_the_past_and_differs_after(parent, here, monkeypatch):
    before = (parent / JOURNAL).read_bytes()
    asked = Asked(monkeypatch)
    past = Fork.of(parent, "40d", ["protocol.turns=2", "founding.max_teams=1"]).run(here / "fork")
    assert asked.dates
    assert min(asked.dates.values()) >= AT
    assert (parent / JOURNAL).read_bytes() == before
    ours, theirs = Run.open(here / "fork"), Run.open(parent)
    assert past == compute_run_prefix(ours, AT) == compute_run_prefix(theirs, AT)
    assert past.calls > 20
    assert past.events > 5
    assert compute_run_prefix(ours, 182.0) != compute_run_prefix(theirs, 182.0)
    shared = {call for call, date in asked_of(parent).items() if date < AT}
    assert shared == {call for call, date in asked_of(here / "fork").items() if date < AT}
    told = json.loads((here / "fork" / "manifest.json").read_text())["ledger"]["forked"]
    assert told == {"run": "run", "digest": digest(parent).strip(), "at": AT}


@pytest.mark.slow
def test_a_fork_is_the_run_of_its_scenario_from_the_beginning(parent, here):
    fork = Fork.of(parent, "40d", ["protocol.turns=2"], "degree:2")
    fork.run(here / "fork")
    run_scenario(fork.scenario, here / "anew")
    assert digest(here / "anew") == digest(here / "fork")
    assert digest(here / "fork") != digest(parent)
    assert replay(here / "fork") == digest(here / "fork").strip()


def test_equal_questions_of_the_future_are_not_paid_again_either(parent, here, monkeypatch):
    asked = Asked(monkeypatch)
    Fork.of(parent, "150d", ["founding.max_teams=7"]).run(here / "fork")
    assert not asked.dates
    assert compute_run_prefix(Run.open(here / "fork"), 150.0).calls > 0


def test_with_other_luck_they_are_asked_anew(parent, here, monkeypatch):
    asked = Asked(monkeypatch)
    Fork.of(parent, "40d", ["seed=99"]).run(here / "fork")
    later = {call for call, date in asked_of(here / "fork").items() if date >= AT}
    assert set(asked.dates) == later
    assert later & {call for call, date in asked_of(parent).items() if date >= AT}


@pytest.mark.parametrize("stop_at", [pytest.param(0, marks=pytest.mark.slow), 7])
def test_a_stopped_fork_is_gone_on_with_and_pays_nothing_twice(parent, here, monkeypatch, stop_at):
    def fork():
        return Fork.of(parent, "40d", ["protocol.turns=2", "seed=5"])

    before = run_until(monkeypatch, stop_at, lambda: fork().run(here / "fork"))
    after = Asked(monkeypatch)
    # By the scenario alone: the folder holds the past that it needs.
    run_scenario(fork().scenario, here / "fork")
    assert len(before.dates) == stop_at
    assert not before.dates.keys() & after.dates.keys()
    assert min(after.dates.values()) >= AT
    fork().run(here / "once")
    assert digest(here / "fork") == digest(here / "once")


def test_a_past_that_would_be_another_one_stops_the_fork(parent, here, monkeypatch):
    from virsci_society.agents.prompts.prompt import Prompt

    render = Prompt.render

    def changed(self, slots):
        return render(self, slots) + "!" * (self.name == "topic_turn")

    asked = Asked(monkeypatch)
    monkeypatch.setattr(Prompt, "render", changed)
    with pytest.raises(Diverged, match=r"/topic/\S+/utter/\S+ of day .* with other words"):
        Fork.of(parent, "40d", ["protocol.turns=2"]).run(here / "fork")
    assert not asked.dates


def test_a_call_of_the_past_that_was_never_made_stops_the_fork(parent, here, monkeypatch):
    fork = Fork.of(parent, "40d", ["seed=9"])
    run_until(monkeypatch, 0, lambda: fork.run(here / "fork"))
    lost = next(iter(asked_of(parent)))
    with Journal(here / "fork" / JOURNAL) as journal:
        journal._writer.enqueue(
            lambda: journal._db.execute("DELETE FROM calls WHERE id = ?", (lost,))
        )
    reseal(here / "fork" / JOURNAL)
    with pytest.raises(Diverged, match=f"the call {lost} of day .* was never made"):
        run_scenario(fork.scenario, here / "fork")


@pytest.mark.parametrize(
    ("at", "settings", "remove", "message"),
    [
        ("40d", ["protocol.team_size=3", "attention=unlimited"], None, "what happened before day"),
        ("40d", ["until=190d", "attention=unlimited"], None, "^--set attention=unlimited: that"),
        ("40d", [], None, "give --set, --seed or --remove"),
        ("5y", ["seed=4"], None, "day 1825 is beyond day 182, the end of"),
        ("40d", [], "degree", "write it as rank:number, such as degree:10"),
        ("40d", [], "Scientist1,", "rank:number, such as degree:10, or as names"),
    ],
)
def test_what_is_no_fork_is_refused(parent, at, settings, remove, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        Fork.of(parent, at, settings, remove)


def test_a_setting_that_the_run_takes_back_is_refused(parent, here):
    Fork.of(parent, "60d", ["protocol.turns=2"]).run(here / "later")
    told = (
        r"--set protocol\.turns: the run sets protocol\.turns itself on day 60.*--at 60d or later"
    )
    with pytest.raises(InputError, match=told):
        Fork.of(here / "later", "40d", ["protocol.turns=3"])
    Fork.of(here / "later", "60d", ["protocol.turns=3"])


def test_only_a_finished_run_can_be_forked(parent, here):
    with pytest.raises(InputError, match="a fork needs a run that has finished"):
        Fork.of(here / "nowhere", "40d", ["seed=4"])
    with pytest.raises(InputError, match="a fork needs a new folder"):
        Fork.of(parent, "40d", ["seed=4"]).run(parent)


def test_the_command_prints_the_digest_of_the_past(parent, here):
    words = ["fork", str(parent), "--at", "40d", "--set", "protocol.turns=2"]
    words += ["--remove", "papers:1", "--set", "until=190d"]
    told = CliRunner().invoke(app, [*words, "--out", str(here / "fork")])
    assert told.exit_code == 0, told.output
    past = compute_run_prefix(Run.open(parent), AT)
    assert f"{past.events} events and {past.calls} calls before day 40;" in told.output
    assert past.digest in told.output
    assert Run.open(here / "fork").days == 190.0
    assert "of run on day 40" in CliRunner().invoke(app, ["show", str(here / "fork")]).output
    listed = CliRunner().invoke(app, ["list", "runs", "."], env={"COLUMNS": "160"})
    assert "fork (fork of run on day 40" in listed.output
    again = CliRunner().invoke(app, [*words, "--out", str(here / "fork")])
    assert again.exit_code == 0
    assert past.digest in again.output


@pytest.mark.slow
def test_somebody_isolated_who_is_removed_changes_nothing_bit_for_bit(here):
    """What a person is worth is measured by forks that leave them out (docs/life.md)."""
    run_scenario(load_scenario("community/assembly", until="1y", metrics=[]), here / "parent")
    run = Run.open(here / "parent")
    took_part = {"members": "scientist", "invitations": "invitee", "authorships": "scientist"}
    busy = {who for name, column in took_part.items() for who in run.table(name)[column]}
    isolated = [who for who in run.table("scientists")["scientist"] if who not in busy]
    assert len(isolated) > 100
    Fork.of(here / "parent", "180d", (), isolated[0]).run(here / "fork")
    fork = Run.open(here / "fork")
    tables = [digest_content({name: one.in_arrow(name) for name in TABLES}) for one in (run, fork)]
    differing = {
        name
        for name in {*tables[0], *tables[1]}
        if len({digest_tables({name: one[name]}) if name in one else None for one in tables}) > 1
    }
    assert differing == {"careers", "interventions"}, "that it left, and nothing else"
    assert fork.table("interventions")[["ranked", "removed"]].values.tolist() == [["name", 1]]
    pair = sorted(busy)[:2]
    Fork.of(here / "parent", "180d", (), ",".join(pair)).run(here / "pair")
    gone = Run.open(here / "pair").table("careers").query("change == 'removed'")
    assert (sorted(gone["scientist"]), set(gone["date"])) == (pair, {180.0})
    with pytest.raises(InputError, match="no scientist 'Nobody1' is in the society on day"):
        Fork.of(here / "parent", "180d", (), "Nobody1").run(here / "none")
    assert not (here / "none").exists(), "the mended command begins anew"
