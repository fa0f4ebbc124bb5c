"""A team that is played through an inbox: a paper, a replay, a kill, and answers of all kinds."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.agents.people.colleague import Colleague, call_of
from virsci_society import load_scenario, run_scenario
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.people.question import safe_name
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.prompt_recording import replay_pages
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.progress import LineProgress
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.society.results.run import Run

ROOT = Path(__file__).parents[3]
VIS = Path(os.environ.get("VIS_CORPUS", ROOT.parent / "shared/data/vis/papers.jsonl.gz"))
"""Papers of IEEE VIS as JSON lines; the variable VIS_CORPUS names another place."""
TEAM = """\
name: one team
seed: 3
until: 26w
population: {ecosystem: {use: synthetic, scientists: 12, papers: 90, fields: 2, seed: 1}}
founding: {use: once, count: 1}
protocol: {use: virsci, team_size: 3, turns: 1, inviting: at_once, topic: {leaving: off}}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
metrics: [teams]
"""
INBOX = {"backend.use": "inbox", "backend.poll": 0.01, "backend.deadline": 300.0}
"""No test waits for ever, and none depends on how fast somebody answers."""

pytestmark = pytest.mark.usefixtures("no_page")


def scenario(folder: Path, text: str = TEAM, **keys: Any) -> Scenario:
    path = folder / "team.yaml"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return load_scenario(path, **keys)


def through_inbox(folder: Path, **keys: Any) -> Scenario:
    """The scenario of that folder, asked through the inbox below it."""
    return scenario(folder, **INBOX, **{"backend.path": str(folder / "inbox")}, **keys)


def words_of(run: Path) -> dict[str, str]:
    """What was said in a run, by call id."""
    with Journal.open(run / JOURNAL, frozen=True) as journal:
        return {id_: outcome.text for id_, _, outcome in journal.outcomes()}


def says(words: Mapping[str, str]) -> Callable[[str], str]:
    return lambda text: words[call_of(text)]


def digest(run: Path) -> str:
    return (run / "digest").read_text(encoding="utf-8").strip()


def questions(folder: Path) -> list[str]:
    # A writer that was killed leaves a private folder beside them, which is no question.
    return sorted(path.stem for path in (folder / "inbox" / "questions").glob("*.md"))


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the rule-based scientists, whose words the colleague repeats."""
    folder = tmp_path_factory.mktemp("offline")
    return run_scenario(scenario(folder), folder / "run", page=False)


@pytest.fixture(scope="module")
def words(offline: Path) -> dict[str, str]:
    return words_of(offline)


@pytest.fixture(scope="module")
def played(words, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the run that a colleague has played."""
    folder = tmp_path_factory.mktemp("played")
    with Colleague(folder / "inbox", says(words)):
        run_scenario(through_inbox(folder), folder / "run", page=False)
    return folder


@pytest.mark.slow
def test_a_team_of_three_ends_in_a_paper(played: Path) -> None:
    run = Run.open(played / "run")
    (team,) = run.table("teams").to_dict("records")
    assert (team["state"], team["size"], team["live"]) == ("published", 3, True)
    assert len(run.table("papers")) == 1
    calls = run.table("calls")
    assert set(calls["turn"]) == {0, 1}
    assert set(calls["rung"]) == {"strict"}


def test_the_same_words_make_the_same_run_whoever_writes_them(played: Path, offline: Path) -> None:
    assert digest(played / "run") == digest(offline)


def test_its_folder_replays_without_the_inbox(played: Path, tmp_path: Path) -> None:
    away = (played / "inbox").rename(tmp_path / "inbox")
    try:
        assert replay(played / "run") == digest(played / "run")
        assert not (played / "inbox").exists()
    finally:
        away.rename(played / "inbox")


def test_every_call_was_one_question_and_the_page_shows_them_answered(played, words) -> None:
    assert len(questions(played)) == len(words)
    page = (played / "inbox" / "index.html").read_text(encoding="utf-8")
    assert "<h2>Open: 0</h2>" in page
    assert f"<h2>Answered: {len(words)}</h2>" in page


def test_its_prompts_are_listed_with_the_answers_as_they_came(played: Path, words) -> None:
    listing = replay_pages(played / "run")
    assert {call.id: call.text for call in listing.calls} == words
    assert "an inbox of files" in listing.about
    for call in listing.calls[:5]:
        files = (played / "inbox" / "questions").glob(f"*-{safe_name(call.id)}-*.md")
        texts = [file.read_text(encoding="utf-8") for file in files]
        (text,) = (text for text in texts if call_of(text) == call.id)
        assert all(message.content in text for message in call.messages)


def test_tokens_are_estimated_and_nothing_is_paid(played: Path, words: Mapping[str, str]) -> None:
    manifest = json.loads((played / "run" / "manifest.json").read_text(encoding="utf-8"))
    ledger = manifest["ledger"]
    assert ledger["outcomes"] == {"answered": len(words)}
    assert ledger["estimated"] == len(words)
    assert ledger["completion_tokens"] == sum(-(-len(text) // 4) for text in words.values())
    assert ledger["usd"] == 0.0
    assert manifest["backend"]["use"] == "inbox"
    assert "an inbox of files" in manifest["backend"]["about"]


def test_an_unreadable_answer_is_asked_again_with_the_reason(words, offline, tmp_path) -> None:
    asked_again = []

    def answer(text: str) -> str:
        call = call_of(text)
        if "**Asked again:**" in text:
            asked_again.append(text)
            return f"Now as you want it:\n```json\n{words[call.rpartition('/')[0]]}\n```"
        return "I would rather say it in prose" if "/agree/" in call else words[call]

    with Colleague(tmp_path / "inbox", answer, suffix=".md"):
        run = run_scenario(through_inbox(tmp_path), tmp_path / "run", page=False)
    assert len(asked_again) == 3
    for text in asked_again:
        assert "I would rather say it in prose" in text
        assert "That answer could not be read (Agreement: " in text
    calls = Run.open(run).table("calls").set_index("call")
    agreed = calls[calls["act"] == "agree"]
    assert list(agreed["rung"]) == ["re-asked"] * 3
    assert digest(run) == digest(offline)
    # A question that is asked again stands beside the first in the list of files.
    assert len(questions(tmp_path)) == len(words) + 3


def test_a_killed_run_takes_up_what_was_answered_meanwhile(
    nursery, words, offline, tmp_path
) -> None:
    path, inbox, before = tmp_path / "team.yaml", tmp_path / "inbox", 9
    through_inbox(tmp_path)
    settings = [f"--set={key}={value}" for key, value in INBOX.items()]
    command = ["run", path, f"--out={tmp_path / 'run'}", *settings, f"--set=backend.path={inbox}"]
    run = nursery.start(tmp_path / "told", *command)
    left: list[str] = []

    def answer(text: str) -> str | None:
        if len(left) >= before:
            return None
        left.append(call_of(text))
        return words[left[-1]]

    def is_far_enough() -> bool:
        assert not (tmp_path / "run" / "manifest.json").exists()
        return (inbox / "questions").is_dir() and len(questions(tmp_path)) > before

    try:
        with Colleague(inbox, answer):
            wait_for(is_far_enough)
    finally:
        os.kill(run, signal.SIGKILL)
        assert nursery.wait(run)[0] == -signal.SIGKILL, (tmp_path / "told").read_text()
    open_then = questions(tmp_path)
    assert not (tmp_path / "run" / "manifest.json").exists()
    # Answered while nobody runs; these calls and their names are known to the second run.
    for stem in open_then:
        text = (inbox / "questions" / f"{stem}.md").read_text(encoding="utf-8")
        (inbox / "answers" / f"{stem}.json").write_text(words[call_of(text)], encoding="utf-8")
    with Colleague(inbox, unless_answered(inbox, words)) as colleague:
        run_scenario(through_inbox(tmp_path), tmp_path / "run", page=False)
    assert digest(tmp_path / "run") == digest(offline)
    assert len(colleague.answered) == len(words) - len(open_then)
    calls = [
        call_of((inbox / "questions" / f"{stem}.md").read_text(encoding="utf-8"))
        for stem in questions(tmp_path)
    ]
    assert sorted(calls) == sorted(words)


def unless_answered(inbox: Path, words: Mapping[str, str]) -> Callable[[str], str | None]:
    """Answers what has no answer yet."""

    def answer(text: str) -> str | None:
        held = {path.stem for path in (inbox / "answers").iterdir()}
        (named,) = {stem for stem in held if f"answers/{stem}.md" in text} or {None}
        return words[call_of(text)] if named is None else None

    return answer


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait for a condition; the bound is a guard against hangs only."""
    until = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.slow
def test_the_terminal_says_what_is_waited_for(words, tmp_path, monkeypatch) -> None:
    screen, inbox = io.StringIO(), tmp_path / "inbox"
    monkeypatch.setattr("virsci_society.scenarios.runs.execute.report_waiting", _often)

    def answer(text: str) -> str:
        # Nobody answers before the terminal has said that somebody is waited for.
        wait_for(lambda: "for an answer in" in screen.getvalue())
        return words[call_of(text)]

    with Colleague(inbox, answer):
        run_scenario(
            through_inbox(tmp_path), tmp_path / "run", LineProgress(screen, every=0.0), page=False
        )
    lines = [line for line in screen.getvalue().splitlines() if "for an answer in" in line]
    assert any(
        f"2 questions wait for an answer in {inbox / 'questions'} (page: " in line for line in lines
    )
    assert all(one != other for one, other in pairwise(lines))


def _often(society, progress):
    from virsci_society.scenarios.runs.progress import report_waiting

    return report_waiting(society, progress, every=0.005)


@pytest.mark.slow
@pytest.mark.skipif(not VIS.is_file(), reason="no VIS corpus here; VIS_CORPUS names its file")
def test_a_team_on_the_vis_corpus_ends_in_a_paper_and_replays(tmp_path: Path) -> None:
    ecosystem = vis_ecosystem(tmp_path)
    text = TEAM.replace(
        "{use: synthetic, scientists: 12, papers: 90, fields: 2, seed: 1}",
        f"{{use: folder, path: {ecosystem}}}",
    )
    run = run_scenario(scenario(tmp_path, text), tmp_path / "offline", page=False)
    assert len(Run.open(run).table("papers")) == 1
    with Colleague(tmp_path / "inbox", says(words_of(run))):
        played = run_scenario(through_inbox(tmp_path), tmp_path / "run", page=False)
    (team,) = Run.open(played).table("teams").to_dict("records")
    assert (team["state"], team["size"]) == ("published", 3)
    assert replay(played) == digest(played) == digest(run)
    page = (tmp_path / "inbox" / "index.html").read_text(encoding="utf-8")
    assert "visuali" in page.lower()


def vis_ecosystem(folder: Path) -> Path:
    """An ecosystem of the corpus around its boundary; all of it takes several times as long."""
    from typer.testing import CliRunner

    from virsci_society.scenarios.cli.app import app

    with gzip.open(VIS, "rt", encoding="utf-8") as lines:
        papers = [line for line in lines if 2011 <= json.loads(line)["year"] <= 2012]
    (folder / "papers.jsonl").write_text("".join(papers), encoding="utf-8")
    asked = ["ecosystem", "build", "jsonl", folder / "papers.jsonl", "--boundary", 2012]
    asked += ["--min-papers", 3, "--out", folder / "ecosystem"]
    done = CliRunner().invoke(app, list(map(str, asked)))
    assert done.exit_code == 0, done.stderr
    return folder / "ecosystem"
