"""The command ``society ask``: a survey beside a run, which is not changed by one byte."""

import json

import pandas as pd
import pytest

from tests.command_line import society
from virsci_society.agents.errors import BudgetReached, InputError
from virsci_society.scenarios.judgement.interview import Interview, choose_scientists, read_survey
from virsci_society.scenarios.runs.execute import replayed_until
from virsci_society.scenarios.runs.run_state import list_runs
from virsci_society.society.results.run import Run

FORM = """\
title: What comes next
questions:
  - {id: direction, text: 'Where does your field go?', answer: {words: 40}}
  - {id: crowding, text: 'How crowded is the topic?', answer: {scale: [1, 7], low: no, high: yes}}
  - {id: join, text: 'Would you join?', answer: {options: ['yes', not now]}}
vignette:
  text: Somebody with {papers} asks you to join a team.
  arms: {new: {papers: no paper}, old: {papers: eighty papers}}
"""


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def form(write):
    return write("form.yaml", FORM)


@pytest.fixture(scope="module")
def halfway(small_run):
    """The society of the small run on day 90."""
    with replayed_until(small_run, 90) as society_then:
        yield society_then


@pytest.mark.slow
def test_a_survey_leaves_the_run_as_it_was_and_the_second_time_does_nothing(
    small_run, form, here, monkeypatch
):
    before = content(small_run)
    out = here / "answers"
    arguments = ("ask", small_run, "--at", "90d", "--who", "papers:4", "--form", form, "--out", out)
    done = society(*arguments)
    assert done.exit_code == 0, done.output
    assert "who spoke: rule-based scientists, not a language model" in done.output
    assert content(small_run) == before
    table = pd.read_csv(out / "answers.csv")
    assert len(table) == 4 * 3
    assert set(table["who_spoke"]) == {"rule-based scientists, not a language model"}
    assert set(table["model"]) == {"offline"}
    assert table.groupby("scientist")["arm"].nunique().tolist() == [1] * 4
    assert table["number"].dropna().between(1, 7).all()
    assert set(table[table["question"] == "join"]["answer"]) <= {"yes", "not now"}
    assert list_runs(here) == []
    files = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    monkeypatch.setattr(Interview, "execute", None)
    assert "What comes next: 4 scientists on day 90" in society(*arguments).output
    assert files == {path: path.stat().st_mtime_ns for path in out.iterdir()}


def test_what_is_told_is_what_was_known_before_the_date(small_run):
    from virsci_society.scenarios.judgement.interview import knowledge_of

    run = Run.open(small_run)
    paper = run.table("papers").iloc[0]
    title, day = paper["title"], float(paper["published"])
    who = run.table("authorships").query("paper == @paper.paper")["scientist"].iloc[0]
    for date, there in ((day, False), (run.days, True)):
        with replayed_until(small_run, date) as then:
            known = knowledge_of(then.world, who)
            assert known.profile == then.population.profile(then.population.rows[who], then.day)
            assert any(title in line for line in known.papers) == there
            assert len(known.papers) + known.older == known.profile.papers


@pytest.mark.slow
def test_a_live_survey_that_was_stopped_pays_nothing_twice(small_run, form, here, monkeypatch):
    from tests.faultserver import FaultServer, Plan

    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    with FaultServer(Plan(seed=3, rates={"unavailable": 0.1})) as server:
        live = [
            "backend.use=openai",
            "backend.model=test",
            "backend.key=FAULTSERVER_KEY",
            f"backend.api_base={server.url}",
            "backend.retry={first: 0.01, longest: 0.05}",
        ]

        def made(who, *more):
            settings = [*live, *more]
            return Interview.of(small_run, form, "90d", who, settings, out=here / "live")

        with pytest.raises(BudgetReached, match="4 of 4 calls"):
            made("degree:2", "backend.budget.calls=4").execute()
        assert not made("degree:2").done
        assert len(made("degree:2").execute()) == 6
        assert made("degree:2").done
        # More scientists are asked in the same folder; those who have answered are not.
        assert len(made("degree:3").execute()) == 9
        by_call = server.counts(full=True)["by_call"]
        assert [call["answers"] for call in by_call.values()] == [1] * 9
    record = json.loads((here / "live" / "questions.json").read_text())
    assert record["ledger"]["outcomes"]["answered"] == 9
    table = pd.read_csv(here / "live" / "answers.csv")
    assert table["who_spoke"].str.startswith("the language model test").all()
    with pytest.raises(InputError, match=r"holds answers to other questions \(another day\)"):
        Interview.of(small_run, form, "80d", "degree:2", live, out=here / "live").execute()


def test_a_plan_counts_the_calls_and_asks_nothing(small_run, form, here):
    who = ("--who", "degree:3", "--at", "90d", "--out", here / "answers")
    model = ("backend.use=openai", "backend.model=test", "backend.api_base=http://127.0.0.1:9")
    settings = [word for one in model for word in ("--set", one)]
    done = society("ask", small_run, "--form", form, *who, *settings, "--plan")
    assert done.exit_code == 0, done.output
    calls = next(line for line in done.output.splitlines() if "calls" in line)
    assert "9" in calls.split()
    assert "nothing was asked" in done.output
    assert not (here / "answers").exists()


def test_scientists_are_chosen_by_rank_by_name_or_at_random(halfway):
    world = halfway.world
    everybody = choose_scientists(world, "all", 1)
    assert sorted(everybody) == sorted(world.population.names)
    degrees = [world.network.degree(world.population.rows[one]) for one in everybody]
    assert choose_scientists(world, "degree:3", 1) == everybody[:3]
    assert degrees == sorted(degrees, reverse=True)
    assert choose_scientists(world, "Scientist3, Scientist1", 1) == ["Scientist3", "Scientist1"]
    at_random = choose_scientists(world, "random:5", 1)
    assert at_random == choose_scientists(world, "random:5", 1)
    assert at_random != choose_scientists(world, "random:5", 2)


@pytest.mark.parametrize(
    ("who", "fault"),
    [
        ("degree:99", "the society has 12"),
        ("degrees:3", "did you mean 'degree'"),
        ("papers:none", "write degree:N"),
        ("Scientist99", "nobody is called 'Scientist99' on day 90"),
    ],
)
def test_other_choices_are_refused(halfway, who, fault):
    with pytest.raises(InputError, match=fault):
        choose_scientists(halfway.world, who, 1)


def test_faults_of_a_form_are_told_with_their_lines(write, faults):
    bad = FORM.replace("words: 40", "words: many").replace("title:", "titel:")
    told = "\n".join(faults(lambda: read_survey(write("bad.yaml", bad))))
    assert "bad.yaml:1" in told
    assert "did you mean 'title'" in told
    assert "bad.yaml:3" in told
    assert "no such file" in faults(lambda: read_survey(write("a.yaml", FORM).with_name("b")))[0]


def test_dates_beyond_the_run_and_folders_inside_it_are_refused(small_run, form):
    done = society("ask", small_run, "--form", form, "--at", "9y")
    assert done.exit_code == 2
    assert "is beyond day 182" in done.output
    with pytest.raises(InputError, match="is inside the run"):
        Interview.of(small_run, form, out=small_run / "answers")
    with pytest.raises(InputError, match="keys of backend only"):
        Interview.of(small_run, form, settings=["protocol.turns=2"])
