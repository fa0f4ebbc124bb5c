"""A person plays a scientist through the page: a paper, a replay, and marks wherever words are."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents.errors import InputError
from agents.journal.journal import Journal
from scenarios import load_scenario, run_scenario
from scenarios.cli.app import app
from scenarios.cli.viewing import watch as commands
from scenarios.config.schema import Scenario
from scenarios.runs.execute import is_finished, replay
from scenarios.runs.run_journal import JOURNAL
from scenarios.watch.play import SEAT, check_names, folder_of_play, with_seats
from scenarios.watch.questions import Questions
from scenarios.watch.run_state import RunWatch
from scenarios.watch.server import WatchServer
from society.results.run import Run
from tests.browser import CHROMIUM, Browser
from tests.scenarios.watch.browserlike import ask, events, post

WHO = "Scientist0"
HOSTILE = "</pre><img src=x onerror=\"document.title='ran'\"><script>document.title='ran'</script>"

pytestmark = pytest.mark.usefixtures("no_page")


@pytest.fixture(scope="module")
def words(small_run: Path) -> dict[str, str]:
    """What the rule-based scientists say in the same run, by call id."""
    with Journal.open(small_run / JOURNAL, frozen=True) as journal:
        return {id_: outcome.text for id_, _, outcome in journal.outcomes()}


def seated(small: Scenario, folder: Path, **how: Any) -> Scenario:
    made = with_seats(small, [WHO], folder, "P07", **how)
    backend = made.backend.backend.model_copy(update={"poll": 0.01})
    return made.model_copy(update={"backend": made.backend.model_copy(update={"backend": backend})})


@contextmanager
def page_of(folder: Path, limit: float | None = None, consent: str = "") -> Iterator[WatchServer]:
    watched = RunWatch(folder, keep_ids=True)
    questions = Questions(folder / SEAT, lambda: watched.journal.answered, limit, consent)

    def state() -> dict[str, Any]:
        return watched.state() | {"seats": questions.state()}

    with WatchServer(state, questions.answer, every=0.03) as server:
        yield server


def answer_all(server: WatchServer, answer: Callable[[dict[str, Any]], str]) -> list[str]:
    """Fill the forms until the run has ended; gives the calls that were answered."""
    done: list[str] = []
    with events(server.url) as seen:
        for state in seen:
            for one in state["seats"]["questions"]:
                if one["call"] not in done:
                    assert post(server.url, {"stem": one["stem"], "text": answer(one)})[0] == 200
                    done.append(one["call"])
            if state["state"] == "finished":
                return done
    raise AssertionError("the page has ended before the run")


def played(scenario: Scenario, folder: Path, fill: Callable[[WatchServer], Any]) -> Any:
    """Run a scenario while somebody fills its forms."""
    faults: list[BaseException] = []

    def run() -> None:
        try:
            run_scenario(scenario, folder, page=False)
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=run, daemon=True)
    with page_of(folder) as server:
        thread.start()
        found = fill(server)
        thread.join()
    assert not faults
    return found


@pytest.fixture(scope="module")
def filled(small_run: Path, words, tmp_path_factory) -> tuple[Path, list[str]]:
    """The run that a person has played through HTTP, and the calls that they answered."""
    folder = tmp_path_factory.mktemp("play") / "run"
    scenario = seated(load_scenario(small_run.parent / "small.yaml"), folder)
    calls = played(scenario, folder, lambda page: answer_all(page, lambda one: words[one["call"]]))
    return folder, calls


def test_the_team_ends_in_a_paper_that_replays(filled, small_run: Path) -> None:
    folder, calls = filled
    run = Run.open(folder)
    assert len(run.table("papers")) == 2
    assert all(call.endswith(WHO) for call in calls)
    digest = (folder / "digest").read_text(encoding="utf-8").strip()
    assert replay(folder) == digest
    # The same words make the same papers, whoever has written them.
    with_rules = Run.open(small_run).table("papers")
    assert run.table("papers")["abstract"].tolist() == with_rules["abstract"].tolist()


def test_a_persons_words_are_marked_wherever_words_are(filled) -> None:
    folder, calls = filled
    run = Run.open(folder)
    table = run.table("calls")
    by_person = table[table["model"] == "person (P07)"]
    assert set(by_person["call"]) == set(calls)
    assert set(by_person["scientist"]) == {WHO}
    assert by_person["live"].all()
    assert not table[table["scientist"] != WHO]["live"].any()
    assert set(table[table["scientist"] != WHO]["model"]) == {"offline"}
    teams = run.table("teams").set_index("team")["live"]
    assert teams[f"{WHO}/1"]
    about = run.manifest["backend"]["about"]
    assert (
        about
        == f"people (P07), for {WHO}; for the rest rule-based scientists, not a language model"
    )
    assert about in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert about in (folder / "network.graphml").read_text(encoding="utf-8")
    ledger = run.manifest["ledger"]
    assert ledger["outcomes"] == {"answered": len(calls)}
    assert ledger["prompt_tokens"] + ledger["completion_tokens"] + ledger["usd"] == 0


def test_the_same_command_goes_on_and_asks_nothing_twice(filled, small: Scenario) -> None:
    folder, _ = filled
    assert is_finished(seated(small, folder), folder)
    resumed = load_scenario(folder / "scenario.yaml")
    assert is_finished(resumed, folder)
    assert is_finished(seated(small, folder, time_limit=9.0), folder)


def test_who_is_silent_is_answered_for_and_marked(small: Scenario, filled, tmp_path) -> None:
    folder = tmp_path / "run"
    run_scenario(seated(small, folder, time_limit=0.001), folder, page=False)
    calls = Run.open(folder).table("calls")
    mine = calls[calls["scientist"] == WHO]
    assert set(mine["model"]) == {"instead of a person (P07): offline"}
    assert (folder / "digest").read_bytes() == (filled[0] / "digest").read_bytes()
    with page_of(folder) as page:
        state = json.loads(ask(page.url, "state")[2])
    # Their questions have no file of an answer, and are open to nobody.
    assert len(list((folder / SEAT / "questions").glob("*.md"))) == len(mine)
    assert state["seats"]["questions"] == []


def test_nothing_is_shown_or_taken_before_somebody_agrees(filled, tmp_path) -> None:
    seat = filled[0] / SEAT
    question = next((seat / "questions").glob("*.md"))
    inbox = tmp_path / "run" / SEAT
    for name in ("questions", "answers"):
        (inbox / name).mkdir(parents=True)
    (inbox / "questions" / question.name).write_bytes(question.read_bytes())
    given = {"stem": question.stem, "text": "{}"}
    with page_of(tmp_path / "run", 60.0, "You may stop at any time.") as page:
        before = json.loads(ask(page.url, "state")[2])["seats"]
        assert (before["consent"], before["questions"]) == ("You may stop at any time.", [])
        assert post(page.url, given)[0] == 409
        assert post(page.url, {"consent": True})[0] == 200
        after = json.loads(ask(page.url, "state")[2])["seats"]
        assert (after["consent"], len(after["questions"])) == ("", 1)
        assert after["questions"][0]["until"] > 0
        assert post(page.url, given)[0] == 200
        assert post(page.url, given)[0] == 409
    agreed = json.loads((inbox / "consent.json").read_text(encoding="utf-8"))
    assert agreed["text"] == "You may stop at any time."


def test_names_and_folders_are_checked(small: Scenario, tmp_path: Path) -> None:
    known = ["Scientist0", "Scientist1"]
    check_names(["Scientist1", "Scientist0/1"], known)
    with pytest.raises(InputError, match=r"--as Scientist99: no such scientist.*Scientist"):
        check_names(["Scientist99"], known)
    twice = with_seats(small, [WHO], tmp_path)
    with pytest.raises(InputError, match="base takes rules or a language model"):
        with_seats(twice, [WHO], tmp_path)
    assert folder_of_play(small, ["Scientist0/1"]) == Path("runs/small-3-as-Scientist0-1")


def test_the_commands_say_where_the_page_is(small, tmp_path, monkeypatch, small_run) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "_wait_for_ctrl_c", interrupted)
    shown = CliRunner().invoke(app, ["watch", str(small_run), "--port", "0"])
    assert shown.exit_code == 0
    assert re.search(r"watch: http://127\.0\.0\.1:\d+/[\w-]{32}/", shown.output)
    assert "the run goes on by itself" in shown.output
    nothing = CliRunner().invoke(app, ["watch", str(tmp_path), "--port", "0"])
    assert (nothing.exit_code, "holds no run" in nothing.output) == (2, True)
    scenario = small_run.parent / "small.yaml"
    wrong = CliRunner().invoke(app, ["play", str(scenario), "--as", "Scientist99"])
    assert (wrong.exit_code, "no such scientist" in wrong.output) == (2, True)


FILL = """() => {
  const isOpen = (form) => !form.querySelector("button").disabled;
  const form = [...document.querySelectorAll("form")].find(isOpen);
  if (!form) return null;
  for (const one of form.querySelectorAll("select")) one.selectedIndex = 1;
  for (const one of form.querySelectorAll("input[type=number]")) one.value = one.max || "3";
  for (const one of form.querySelectorAll("textarea"))
    if (one.required || /Reason|Title|Abstract|Idea/i.test(one.name)) one.value = TEXT;
  form.dispatchEvent(new Event("input", { bubbles: true }));
  form.requestSubmit();
  return form.dataset.stem;
}"""
ENDED = "document.title.includes('finished')"


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
def test_a_person_plays_in_a_browser_and_texts_stay_texts(small: Scenario, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    fill_in = f"({FILL.replace('TEXT', json.dumps(HOSTILE))})()"

    def fill(server: WatchServer) -> int:
        with Browser() as browser:
            browser.send("Page.navigate", url=server.url)
            browser.until("document.querySelector('form textarea') !== null")
            stem = browser.value("document.querySelector('form').dataset.stem")
            # What was typed and not sent is there again after the page has been loaded anew.
            typing = "const t = document.querySelector('form textarea'); t.value = 'half a '; "
            typing += "t.dispatchEvent(new Event('input', { bubbles: true }))"
            browser.value(f"(() => {{ {typing} }})()")
            browser.send("Page.reload")
            browser.until("document.querySelector('form textarea')?.value === 'half a '")
            assert browser.value("document.querySelector('form').dataset.stem") == stem
            sent, shown = set(), False
            while not browser.value(ENDED):
                stem = browser.value(fill_in)
                sent |= {stem} - {None}
                browser.until(
                    f"{ENDED} || !!document.querySelector('form:not([data-stem=\"{stem}\"])')"
                )
                shown |= browser.value("document.body.textContent.includes('onerror')")
                foreign = "document.querySelectorAll('img, iframe, body script').length"
                assert browser.value(foreign) == 0
            assert shown
            assert browser.complaints() == []
            assert all(one.startswith(server.url) for one in browser.requests())
            return len(sent)

    number = played(seated(small, folder), folder, fill)
    run = Run.open(folder)
    assert len(run.table("papers")) > 0
    calls = run.table("calls")
    by_person = calls[calls["model"] == "person (P07)"]
    assert len(by_person) == number > 3
    assert any("onerror" in reply for reply in by_person["reply"])
    assert replay(folder)
