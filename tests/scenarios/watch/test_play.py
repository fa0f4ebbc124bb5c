"""A person plays a scientist through the page: a paper, a replay, and marks wherever words are."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.browser import CHROMIUM, Browser
from tests.scenarios.conftest import SMALL
from tests.scenarios.watch.browserlike import ask, events, post, until
from virsci_society import load_scenario, run_scenario
from virsci_society.agents.errors import InputError
from virsci_society.agents.invented_names import with_invented_names
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.people.folder import read_questions
from virsci_society.agents.people.question import parse_question
from virsci_society.metrics.report.page import render_page
from virsci_society.metrics.report.transcript import transcript_lines, transcript_page
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.runs.execute import is_finished, replay
from virsci_society.scenarios.runs.preflight import SEAT, check_before_run
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.watch import command as commands
from virsci_society.scenarios.watch.cards import make_card
from virsci_society.scenarios.watch.folder_state import RunWatch
from virsci_society.scenarios.watch.play import (
    Questions,
    check_folder,
    check_names,
    folder_of_play,
    secret_links,
    with_seats,
)
from virsci_society.scenarios.watch.server import WatchServer
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import person_marks

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
def page_of(
    folder: Path, limit: float | None = None, consent: str = "", seats: Sequence[str] = (WHO,)
) -> Iterator[WatchServer]:
    watched = RunWatch(folder, keep_ids=True)
    answered = lambda: watched.journal.answered  # noqa: E731
    questions = Questions(folder / SEAT, answered, limit, consent, seats, watched.fate)
    links = secret_links(folder / SEAT, seats)

    def state() -> dict[str, Any]:
        return watched.state() | {"seats": questions.states()}

    with WatchServer(state, questions.answer, seats=links, every=0.03) as server:
        yield server


def answer_all(server: WatchServer, answer: Callable[[str], str]) -> list[str]:
    """Fill the forms, with the names that the page shows, until the run has ended.

    Returns:
        The calls that were answered.
    """
    done: list[str] = []
    with events(server.links[WHO]) as seen:
        for state in seen:
            for one in state["seats"]["questions"]:
                call = server.names.masked(one["call"])
                if call not in done:
                    given = {"stem": one["stem"], "text": with_invented_names(answer(call))}
                    assert post(server.links[WHO], given)[0] == 200
                    done.append(call)
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
    calls = played(scenario, folder, lambda page: answer_all(page, words.__getitem__))
    return folder, calls


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_same_command_goes_on_and_asks_nothing_twice(filled, small: Scenario) -> None:
    folder, _ = filled
    assert is_finished(seated(small, folder), folder)
    resumed = load_scenario(folder / "scenario.yaml")
    assert is_finished(resumed, folder)
    assert is_finished(seated(small, folder, time_limit=9.0), folder)


@pytest.mark.slow
def test_who_is_silent_is_answered_for_and_marked(small: Scenario, filled, tmp_path) -> None:
    folder = tmp_path / "run"
    run_scenario(seated(small, folder, time_limit=0.001), folder, page=False)
    calls = Run.open(folder).table("calls")
    mine = calls[calls["scientist"] == WHO]
    assert set(mine["model"]) == {"instead of a person (P07): offline"}
    assert (folder / "digest").read_bytes() == (filled[0] / "digest").read_bytes()
    with page_of(folder) as page:
        state = json.loads(ask(page.links[WHO], "state")[2])
    # Their questions have no file of an answer, and are open to nobody.
    assert len(list((folder / SEAT / "questions").glob("*.md"))) == len(mine)
    assert state["seats"]["questions"] == []


def test_an_answer_that_cannot_be_written_is_told_and_the_page_lives(
    filled, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = next((filled[0] / SEAT / "questions").glob("*.md"))
    inbox = tmp_path / "run" / SEAT
    for name in ("questions", "answers"):
        (inbox / name).mkdir(parents=True)
    (inbox / "questions" / question.name).write_bytes(question.read_bytes())
    place = inbox / "answers" / f"{question.stem}.json"
    place.mkdir()
    given = {"stem": question.stem, "text": "{}"}
    with page_of(tmp_path / "run") as page:
        status, told = post(page.links[WHO], given)
        assert (status, place.is_dir()) == (409, True)
        assert f"{place.name}: is not a plain file" in str(told)
        place.rmdir()
        with monkeypatch.context() as patch:

            def full(*_: Any, **__: Any) -> None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            patch.setattr("virsci_society.agents.people.folder.write_atomically", full)
            status, told = post(page.links[WHO], given)
        assert status == 409
        assert "the answer cannot be written: No space left on device" in str(told)
        assert post(page.links[WHO], given)[0] == 200
    assert place.read_text(encoding="utf-8") == "{}"


def test_nothing_is_shown_or_taken_before_somebody_agrees(filled, tmp_path) -> None:
    seat = filled[0] / SEAT
    question = next((seat / "questions").glob("*.md"))
    inbox = tmp_path / "run" / SEAT
    for name in ("questions", "answers"):
        (inbox / name).mkdir(parents=True)
    (inbox / "questions" / question.name).write_bytes(question.read_bytes())
    given = {"stem": question.stem, "text": "{}"}
    with page_of(tmp_path / "run", 60.0, "You may stop at any time.") as page:
        before = json.loads(ask(page.links[WHO], "state")[2])["seats"]
        assert (before["consent"], before["questions"]) == ("You may stop at any time.", [])
        assert post(page.links[WHO], given)[0] == 409
        assert post(page.links[WHO], {"consent": True})[0] == 200
        after = json.loads(ask(page.links[WHO], "state")[2])["seats"]
        assert (after["consent"], len(after["questions"])) == ("", 1)
        assert after["questions"][0]["until"] > 0
        assert post(page.links[WHO], given)[0] == 200
        assert post(page.links[WHO], given)[0] == 409
    agreed = json.loads((inbox / f"consent-{WHO}.json").read_text(encoding="utf-8"))
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
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        taken = CliRunner().invoke(app, ["watch", str(small_run), "--port", str(port)])
    assert taken.exit_code == 0
    assert f"port {port} is taken; the page is at port" in taken.output
    scenario = small_run.parent / "small.yaml"
    wrong = CliRunner().invoke(app, ["play", str(scenario), "--as", "Scientist99"])
    assert (wrong.exit_code, "no such scientist" in wrong.output) == (2, True)


def test_a_folder_is_gone_on_with_by_the_same_people_only(filled, small, small_run) -> None:
    folder, _ = filled
    check_folder(seated(small, folder), folder)
    check_folder(seated(small, folder, time_limit=9.0), folder)
    check_folder(seated(small, folder), folder / "missing")
    begun = f"begun with --as {WHO} --name P07; give the same"
    for other in (
        with_seats(small, [WHO], folder),
        with_seats(small, [WHO, "Scientist1"], folder, "P07"),
    ):
        with pytest.raises(InputError, match=begun):
            check_folder(other, folder)
    with pytest.raises(InputError, match="a run in which nobody plays"):
        check_folder(seated(small, folder), small_run)
    # Nor is a run with people written over by one without.
    with pytest.raises(InputError, match="holds a run in which people answer"):
        check_before_run(small, folder)


QUICK = (
    "from virsci_society.agents.people.seat import Seat\n"
    "Seat.model_fields['poll'].default = 0.01\n"
    "Seat.model_rebuild(force=True)\n"
)
"""Looks for answers more often than a person could give them."""


@pytest.mark.slow
def test_a_command_that_is_killed_between_two_answers_goes_on_and_asks_neither_again(
    filled, words, small_run: Path, nursery, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    command = ("play", small_run.parent / "small.yaml", "--as", WHO, "--name", "P07")
    command += ("--out", folder, "--port", "0")
    watched = RunWatch(folder, keep_ids=True)
    page = Questions(folder / SEAT, lambda: watched.journal.answered)
    answered: list[str] = []

    def next_question() -> dict[str, Any] | None:
        watched.journal.look()
        shown = page.state()["questions"]
        assert not [one for one in shown if one["call"] in answered]
        return shown[0] if shown else None

    def answer(one: dict[str, Any]) -> None:
        page.answer({"stem": one["stem"], "text": words[one["call"]]})
        answered.append(one["call"])

    for deaths in range(3):
        log = tmp_path / f"log{deaths}"
        pid = nursery.start(log, *command, before=QUICK)
        until(partial(is_serving, log))
        answer(until(next_question))
        if deaths == 0:
            # The second death comes at once, when nothing has read the answer yet.
            until(next_question)
        if deaths < 2:
            os.kill(pid, signal.SIGKILL)
            assert nursery.wait(pid)[0] == -signal.SIGKILL
    while not is_over(folder):
        found = next_question()
        if found is not None:
            answer(found)
        time.sleep(0.005)
    assert nursery.wait(pid)[0] == 0, log.read_text(encoding="utf-8")
    links = [(tmp_path / f"log{deaths}").read_text(encoding="utf-8") for deaths in range(3)]
    # The link of a seat stays the same but for the port.
    assert len({re.search(r"http://[\d.]+:\d+/(.*)/", one)[1] for one in links}) == 1

    assert sorted(answered) == sorted(filled[1])
    digest = (folder / "digest").read_bytes()
    assert digest == (filled[0] / "digest").read_bytes()
    assert replay(folder) == digest.decode().strip()
    run = Run.open(folder)
    calls = run.table("calls").set_index("call")
    assert set(calls.index[calls["model"] == "person (P07)"]) == set(answered)
    assert run.manifest["ledger"]["outcomes"]["answered"] == len(answered)


def is_serving(log: Path) -> bool:
    return log.exists() and f"{WHO}, Lindutun: http" in log.read_text(encoding="utf-8")


def is_over(folder: Path) -> bool:
    return (folder / "digest").exists()


@pytest.mark.slow
def test_the_transcript_and_the_page_say_which_words_a_person_wrote(filled) -> None:
    folder, calls = filled
    run = Run.open(folder)
    lines = list(transcript_lines(run))
    heads = [line for line in lines if line.startswith("day ")]
    mine = [line for line in heads if f": {WHO} " in line]
    assert len(mine) == len(calls)
    assert all(line.endswith("[written by a person (P07)]") for line in mine)
    assert not [line for line in heads if "person" in line and line not in mine]
    assert "== published == [a person (P07) took part]" in lines
    number = len(calls)
    transcript, page = transcript_page(run), render_page(run)
    assert transcript.count("written by a person (P07)") == number
    replies = f"{number} of {number} by a person (P07)"
    assert f"not by a rule or a model: for {WHO} {replies}." in page
    assert f'<td class="words">{replies}</td>' in page
    assert page.count("a person took part</span>") == len(run.table("papers"))


def test_nobody_is_taken_for_a_person_who_is_none(filled) -> None:
    calls = Run.open(filled[0]).table("calls").head(3)
    named = calls.assign(model=["person", "instead of a person: offline", "gpt"], defaulted=False)
    seat = {"backend": {"use": "seat"}}
    assert person_marks(seat, named) == [
        *("written by a person", "instead of a person: offline", ""),
    ]
    assert person_marks({"backend": {"use": "hybrid", "live": {"use": "seat"}}}, named)[0]
    assert person_marks(seat, named.assign(defaulted=True))[0] == ""
    # A server can give itself any name.
    assert person_marks({"backend": {"use": "openai"}}, named) == ["", "", ""]


AT = """() => {
  const one = document.activeElement, form = one && one.closest("form");
  return form ? [form.dataset.stem, one.type || one.tagName, one.required, one.textContent] : null;
}"""
ENDED = "document.title.includes('finished')"


def answer_by_keyboard(browser: Browser) -> tuple[str, str] | None:
    """Fill the form that is focused next by Tab, Space and typing; gives its stem and button."""
    for _ in range(80):
        browser.key("Tab", code=9)
        at = browser.value(f"({AT})()")
        if at is None:
            continue
        stem, kind, required, said = at
        if kind == "radio":
            browser.key(" ", " ", code=32)
        elif kind == "textarea" and (required or browser.value("document.activeElement.rows") > 3):
            browser.send("Input.insertText", text=HOSTILE)
        elif kind == "submit":
            browser.key("Enter", "\r", code=13)
            return stem, said
    return None


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
def test_a_person_plays_by_keyboard_and_texts_stay_texts(write, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    scenario = load_scenario(write("ten.yaml", SMALL.replace("turns: 1", "turns: 2")))

    def fill(server: WatchServer) -> list[tuple[str, str]]:
        with Browser() as browser:
            browser.send("Page.navigate", url=server.links[WHO])
            browser.until("document.querySelector('form textarea') !== null")
            browser.until("document.querySelector('#line').textContent.includes('for your answer')")
            told = browser.value("document.querySelector('#numbers').textContent")
            assert "simulated date" in told
            assert "in flight" not in told
            stem = browser.value("document.querySelector('form').dataset.stem")
            # What was typed and not sent is there again after the page has been loaded anew.
            typing = "const t = document.querySelector('form textarea'); t.value = 'half a '; "
            typing += "t.dispatchEvent(new Event('input', { bubbles: true }))"
            browser.value(f"(() => {{ {typing} }})()")
            browser.send("Page.reload")
            browser.until("document.querySelector('form textarea')?.value === 'half a '")
            assert browser.value("document.querySelector('form').dataset.stem") == stem
            sent, shown = [], False
            while not browser.value(ENDED):
                browser.until(f"{ENDED} || !!document.querySelector('form')")
                shown |= browser.value("document.body.textContent.includes('onerror')")
                foreign = "document.querySelectorAll('img, iframe, body script').length"
                assert browser.value(foreign) == 0
                if (answered := answer_by_keyboard(browser)) is None:
                    continue
                sent.append(answered)
                gone = f"!document.querySelector('form[data-stem=\"{answered[0]}\"]')"
                browser.until(f"{ENDED} || {gone}")
            assert shown
            assert browser.complaints() == []
            assert all(one.startswith(server.links[WHO]) for one in browser.requests())
            past = browser.value("document.querySelector('#past').textContent")
            assert past.count("day ") == len(sent)
            assert "published: " in past
            return sent

    sent = played(seated(scenario, folder), folder, fill)
    run = Run.open(folder)
    assert len(run.table("papers")) > 0
    calls = run.table("calls")
    by_person = calls[calls["model"] == "person (P07)"]
    assert len(by_person) == len(sent) >= 10
    assert {"Send", "Yes"} <= {button for _, button in sent}
    assert any("onerror" in reply for reply in by_person["reply"])
    assert replay(folder)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
def test_a_person_agrees_by_keyboard_and_sees_the_run_only_then(filled, tmp_path) -> None:
    question = next((filled[0] / SEAT / "questions").glob("*.md"))
    inbox = tmp_path / "run" / SEAT
    for name in ("questions", "answers"):
        (inbox / name).mkdir(parents=True)
    (inbox / "questions" / question.name).write_bytes(question.read_bytes())
    shown = "document.querySelector('#numbers dl').checkVisibility()"
    with (
        page_of(tmp_path / "run", consent="You may stop.\n\nAsk us.") as page,
        Browser() as browser,
    ):
        browser.send("Page.navigate", url=page.links[WHO])
        browser.until("document.activeElement && !!document.querySelector('#agree')")
        assert not browser.value(shown)
        browser.key("Tab", code=9)
        assert browser.value("document.activeElement.textContent") == "I agree"
        browser.key("Enter", "\r", code=13)
        browser.until("!!document.querySelector('form')")
        assert browser.value("document.activeElement.id") == "who"
        assert browser.value(shown)


ACTIONS = "You have two options:\nAction 1: you join the team.\nAction 2: you decline.\n"


def test_a_card_shows_all_that_a_model_would_be_told(filled) -> None:
    """Line by line: in its blocks, as a label, or on the button of a choice."""
    texts = read_questions(filled[0] / SEAT)
    assert len(texts) > 5
    for text, _ in texts.values():
        parsed = parse_question(text)
        card = make_card(parsed)
        prompt = next(one.content for one in parsed.messages if one.role == "user")
        shown = {line for block in card["blocks"] for line in block["lines"]}
        shown |= {f"{block['who']}:" for block in card["blocks"]}
        if "invite" in parsed.call:
            prompt = prompt.replace(ACTIONS, "")
            buttons = {"Action 1": "Join the team", "Action 2": "Decline"}
            assert card["labels"] == {"Selected Action": buttons}
            assert card["title"] == f"{parsed.call.split('/')[0]} invites you"
        lines = [line.removeprefix("> ").removeprefix("- ") for line in prompt.split("\n") if line]
        left_out = [line for line in lines if line not in shown]
        # The form of the answer stands at the end: it is what the fields are made of.
        assert left_out == lines[len(lines) - len(left_out) :]
        assert not left_out or "JSON" in left_out[0]


@pytest.mark.slow
def test_twenty_people_play_one_run_each_on_a_page_of_their_own(tmp_path, write) -> None:
    who = [f"Scientist{number}" for number in range(20)]
    text = SMALL.replace("scientists: 12", "scientists: 20").replace("26w", "6w")
    scenario = load_scenario(write("class.yaml", text.replace("count: 2", "count: 5")))
    folder = tmp_path / "run"
    made = with_seats(scenario, who, folder).backend
    fast = made.model_copy(update={"backend": made.backend.model_copy(update={"poll": 0.01})})
    thread = threading.Thread(
        target=run_scenario,
        args=(scenario.model_copy(update={"backend": fast}), folder),
        kwargs={"page": False},
    )
    rules = {"Selected Action": "Action 1", "Agree": True, "Stay": True, "Response": "Well."}
    rules |= {"Selected Topic": "A topic", "Summary": "Said.", "Decision Made": "Idea 0"}
    rules |= {
        "Idea": "One.",
        "Title": "A title",
        "Abstract": "Words.",
        "Answer": "Yes.",
        "Ask": None,
    }
    rules |= dict.fromkeys(("Clarity", "Feasibility", "Novelty"), 5)
    answered: set[str] = set()
    with page_of(folder, seats=who) as server:
        thread.start()
        links = list(server.links.items())
        assert len({link for _, link in links}) == 20
        while thread.is_alive():
            for place, (seat, link) in enumerate(links):
                seats = json.loads(ask(link, "state")[2])["seats"]
                for one in seats["questions"]:
                    assert seats["who"] == one["who"] == with_invented_names(seat)
                    fields = {
                        name: rules[name] for name in one["schema"]["properties"] if name in rules
                    }
                    given = {"stem": one["stem"], "text": json.dumps(fields)}
                    # Another seat cannot answer in its name, nor somebody who says to be it.
                    forged = given | {"seat": seat}
                    status, told = post(links[place - 1][1], forged)
                    assert (status, "no open question of this seat" in told["told"]) == (409, True)
                    assert post(server.url, forged)[0] == 404
                    assert post(link, given)[0] == 200
                    # Nor can it be answered twice.
                    assert post(link, given)[0] == 409
                    answered.add(server.names.masked(one["call"]))
            time.sleep(0.02)
        assert json.loads(ask(server.url, "state")[2])["seats"] is None
    calls = Run.open(folder).table("calls")
    assert set(calls["model"]) == {"person"}
    assert answered == set(calls["call"])
    assert len(set(calls["scientist"])) >= 5


def test_links_are_kept_and_secret(filled, tmp_path: Path) -> None:
    first = secret_links(tmp_path / SEAT, ["Scientist1", "Scientist2"])
    again = secret_links(tmp_path / SEAT, ["Scientist2", "Scientist1", "Scientist3"])
    assert set(first.items()) < set(again.items())
    assert min(map(len, again)) >= 32
    assert (tmp_path / SEAT / "links.json").stat().st_mode & 0o077 == 0
    with page_of(filled[0], seats=("Scientist1", WHO)) as page:
        assert json.loads(ask(page.links["Scientist1"], "state")[2])["seats"]["past"] == []
        past = json.loads(ask(page.links[WHO], "state")[2])["seats"]["past"]
    assert len(past) == len(filled[1])
    teams = Run.open(filled[0]).table("teams")["team"]
    assert {one["team"] for one in past} == set(map(with_invented_names, teams))
    assert all(one["fate"].startswith("published: ") for one in past)
