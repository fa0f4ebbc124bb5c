"""Journal: every call kept before it is used (rules 15, 22, 27; R1, R11, R12)."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.journal_rows import attempts, texts
from virsci_society.agents.errors import InputError, ProtocolError, Stopped
from virsci_society.agents.journal.journal import READ_AHEAD, Journal
from virsci_society.agents.journal.records import (
    ANSWERED,
    IN_DOUBT,
    Attempt,
    CallOutcome,
    Totals,
    storable,
)
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Reply, Request, Usage
from virsci_society.agents.replies.form import Form

ROOT = Path(__file__).parents[3]
ME = Profile("Scientist0", (), ("graphs",), papers=1, citations=0)
WORDS = CallOutcome("answer", '{"text": "fine"}', "model-1", Usage(30, 4, False))


class Words(Form):
    text: str


def request(id_, said="hello", asked=1.0):
    return Request(id_, ME, (Message("user", said),), Words, asked=asked)


async def call(journal, asked, kept=WORDS, **told):
    """One attempt from intent to outcome; returns what is committed."""
    attempt = Attempt(asked.id, 0, "here", reserved=100, reserved_usd=0.5)
    await journal.record_intent(asked, attempt)
    attempt.outcome = kept.kind if kept and kept.kind != "answer" else ANSWERED
    attempt.usage, attempt.usd = (kept.usage, 0.25) if kept else (Usage(), 0.0)
    for name, value in told.items():
        setattr(attempt, name, value)
    return await journal.record_outcome(asked, attempt, kept)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.sqlite"


@pytest.fixture
def written(path):
    """A journal with three answered calls and one that was only begun."""

    async def write():
        with Journal(path) as journal:
            for place, id_ in enumerate("cab"):
                await call(journal, request(id_, asked=float(place)))
            await journal.record_intent(request("d", asked=3.0), Attempt("d", 0, "here", 100, 0.5))

    asyncio.run(write())
    return path


@pytest.mark.parametrize("where", ["disk", "memory"])
def test_a_call_is_kept_and_found(path, where):
    async def scene():
        with Journal(path if where == "disk" else None) as journal:
            assert journal.is_empty
            assert await call(journal, request("a")) == WORDS
            assert journal.lookup_call(request("a")) == WORDS
            assert journal.lookup_call(request("b")) is None

    asyncio.run(scene())


def test_the_next_session_finds_what_was_kept(written):
    with Journal(written) as journal:
        assert (journal.session, journal.unreplayed, journal.is_empty) == (2, 3, False)
        assert journal.lookup_call(request("a", asked=1.0)) == WORDS
        assert journal.lookup_call(request("d", asked=3.0)) is None
        assert journal.unreplayed == 2
        assert list(texts(journal)) == ["c", "a", "b"]


async def keep(path, *requests_and_ends):
    with Journal(path) as journal:
        pairs = iter(requests_and_ends)
        for asked, kept in zip(pairs, pairs, strict=True):
            await call(journal, asked, kept)


def test_the_first_committed_answer_is_the_words_for_ever(path):
    async def scene():
        with Journal(path) as journal:
            first = await call(journal, request("a"))
            late = replace(WORDS, text="another")
            assert await call(journal, request("a"), late) == first == WORDS
        with Journal(path) as journal:
            assert journal.lookup_call(request("a")) == WORDS

    asyncio.run(scene())


def test_a_changed_request_is_named_by_date_then_id(written):
    with Journal(written) as journal:
        assert journal.first_mismatch is None
        for id_, asked in (("b", 2.0), ("a", 1.0), ("c", 0.0)):
            assert journal.lookup_call(request(id_, "other words", asked)) is None
        assert journal.first_mismatch == (0.0, "c")


def test_what_nobody_asks_for_is_left_over(written):
    with Journal(written) as journal:
        journal.lookup_call(request("c"))
        assert journal.first_unrequested(before=10.0) == "a"
        assert journal.first_unrequested(before=1.0) is None
        journal.lookup_call(request("a"))
        assert journal.first_unrequested(before=10.0) == "b"
        journal.lookup_call(request("b"))
        assert journal.first_unrequested(before=10.0) is None


def test_the_ledger_has_a_row_for_every_attempt_of_every_session(written):
    async def scene():
        with Journal(written) as journal:
            await call(journal, request("d"), None, outcome="server", status=503, detail="down")
            await call(journal, request("d"))
            return attempts(journal), journal.totals(), journal.in_doubt()

    rows, totals, in_doubt = asyncio.run(scene())
    ends = [(row.call, row.number, row.outcome) for row in rows]
    assert ends[3:] == [("d", 0, IN_DOUBT), ("d", 1, "server"), ("d", 2, ANSWERED)]
    assert (rows[4].status, rows[4].detail) == (503, "down")
    assert totals.attempts == 6
    assert totals.outcomes == {ANSWERED: 4, IN_DOUBT: 1, "server": 1}
    assert (totals.prompt_tokens, totals.completion_tokens) == (120, 16)
    assert (totals.in_doubt_tokens, totals.in_doubt_usd) == (100, 0.5)
    assert totals.tokens == 236
    assert totals.usd == 1.0
    assert in_doubt == ["d"]


def test_sums_are_the_same_however_they_are_added():
    one_by_one, at_once = Totals(), Totals()
    for _ in range(10):
        one_by_one.add(ANSWERED, 1, 1, 1, 0, 1, 0.1, 0.1)
        one_by_one.add("timeout", 1, 1, 1, 1, 0, 0.1, 0.1)
    at_once.add(ANSWERED, 10, 10, 10, 0, 10, 1.0, 1.0)
    at_once.add("timeout", 10, 10, 10, 10, 0, 1.0, 1.0)
    assert one_by_one == at_once
    assert (at_once.usd, at_once.cut_off_usd, at_once.seconds) == (1.0, 1.0, 2.0)


def test_what_is_under_way_is_not_in_doubt_yet(path):
    async def scene():
        with Journal(path) as journal:
            await journal.record_intent(request("a"), Attempt("a", 0, "", 100, 0.5))
            return journal.in_doubt(), journal.totals().in_doubt_tokens

    assert asyncio.run(scene()) == ([], 0)
    with Journal(path) as journal:
        assert journal.in_doubt() == ["a"]


def test_findings_are_kept_in_passing(path):
    with Journal(path) as journal:
        journal.store_retrieval("team/~1", "hash", 4.0, b"[1, 2]")
    with Journal(path) as journal:
        assert not journal.is_empty
        assert journal.lookup_retrieval("team/~1", "hash", 4.0) == b"[1, 2]"
        assert journal.lookup_retrieval("team/~2", "hash", 4.0) is None
        assert journal.lookup_retrieval("team/~1", "other", 4.0) is None
        assert journal.first_mismatch == (4.0, "team/~1")


def test_words_that_cost_nothing_are_kept_in_passing(path):
    with Journal(path) as journal:
        for number in range(5000):
            journal.store_outcome(request(f"call{number}"), WORDS)
        journal.flush()
        assert journal.commits < 1000
    with Journal(path) as journal:
        assert journal.unreplayed == 5000


@pytest.fixture
def long(path):
    """A journal of more calls and retrievals than are read ahead twice, and how each call ended."""
    ends = {
        f"call{number}": replace(WORDS, text=f"words {number}")
        for number in range(2 * READ_AHEAD + 9)
    }
    with Journal(path) as journal:
        for number, (id_, end) in enumerate(ends.items()):
            journal.store_outcome(request(id_, asked=float(number)), end)
            journal.store_retrieval(f"~{id_}", "hash", float(number), id_.encode())
    return path, ends


@pytest.mark.parametrize("order", [1, -1, 7])
def test_rows_that_are_read_ahead_are_those_of_the_journal(long, order):
    """In the order of their rows, backwards, and in seven rounds."""
    path, ends = long
    ids = [id_ for start in range(abs(order)) for id_ in list(ends)[start :: abs(order)]]
    with Journal(path) as journal:
        for id_ in ids if order > 0 else reversed(ids):
            assert journal.lookup_call(request(id_)) == ends[id_]
            assert journal.lookup_retrieval(f"~{id_}", "hash", 0.0) == id_.encode()
        assert (journal.unreplayed, journal.first_mismatch) == (0, None)


@pytest.mark.parametrize("changed", [3, READ_AHEAD, READ_AHEAD + 1, 2 * READ_AHEAD + 5])
def test_another_request_is_refused_wherever_its_row_is_read(long, changed):
    path, ends = long
    with Journal(path) as journal:
        for number, id_ in enumerate(ends):
            said, hash_ = ("other", "other") if number == changed else ("hello", "hash")
            found = journal.lookup_call(request(id_, said))
            assert found == (None if number == changed else ends[id_])
            known = journal.lookup_retrieval(f"~{id_}", hash_, 0.0)
            assert known == (None if number == changed else id_.encode())
        # The call is first by id, where both have one date.
        assert journal.first_mismatch == (float(changed), f"call{changed}")
        assert (journal.unreplayed, journal.first_unrequested(1e9)) == (1, f"call{changed}")


def test_a_fork_takes_what_is_the_same(written, tmp_path):
    with Journal(tmp_path / "fork.sqlite", parent=written) as journal:
        assert not journal.is_empty
        assert journal.lookup_call(request("a")) == WORDS
        assert journal.lookup_call(request("b", "changed", 2.0)) is None
        assert journal.first_parent_mismatch == (2.0, "b")
        assert journal.first_mismatch is None
        assert journal.first_unrequested(before=10.0) is None
    with Journal(tmp_path / "fork.sqlite") as journal:
        assert list(texts(journal)) == ["a"]


def test_a_frozen_journal_takes_nothing(written):
    before = written.read_bytes()
    with Journal(written, frozen=True) as journal:
        assert journal.lookup_call(request("a")) == WORDS
        journal.store_retrieval("x", "hash", 0.0, b"x")
        journal.store_outcome(request("x"), WORDS)
        with pytest.raises(ProtocolError, match="frozen"):
            asyncio.run(journal.record_intent(request("x"), Attempt("x", 0)))
        with pytest.raises(ProtocolError, match="nothing ends"):
            asyncio.run(journal.record_outcome(request("d"), Attempt("d", 0), WORDS))
    assert written.read_bytes() == before
    with Journal(written), Journal(written, frozen=True) as frozen:
        assert frozen.lookup_call(request("a")) == WORDS


@pytest.mark.parametrize("text", ["\ud800 lone", "NUL \0 inside", "漢字 ünï", "x" * 1_000_000])
@pytest.mark.parametrize("kind", ["answer", "refused"])
def test_what_is_stored_is_what_comes_back(path, text, kind):
    kept = CallOutcome(kind, storable(text), "m")
    asyncio.run(keep(path, request("a"), kept))
    with Journal(path) as journal:
        assert journal.lookup_call(request("a")) == kept
        assert storable(storable(text)) == storable(text)


def test_no_secret_is_stored(path):
    key = "sk-proj-abcdefghijklmnopqrstuvwx"
    fault = {"outcome": "server", "detail": f"Authorization: Bearer {key}"}

    async def scene():
        with Journal(path) as journal:
            await call(journal, request("a"), None, **fault)
            await call(journal, request("a"), CallOutcome("answer", storable(f"your key is {key}")))

    asyncio.run(scene())
    for file in path.parent.iterdir():
        assert key.encode() not in file.read_bytes()


def cats(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE cats (name TEXT)")
        database.commit()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_bytes(b"not a database at all" * 100), ""),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 99), ""),
        (cats, "is not a journal"),
    ],
)
def test_another_file_is_bad_input_and_stays_as_it_is(path, make, why):
    make(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=rf"journal\.sqlite: {why}"):
        Journal(path)
    assert path.read_bytes() == before


def test_a_journal_of_another_format_is_bad_input(written):
    with sqlite3.connect(written) as database:
        database.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    database.close()
    with pytest.raises(InputError, match="format 99, not 3"):
        Journal(written)


HOLD = """
import asyncio, os, signal, sys
sys.path.insert(0, {root!r})
from tests.agents.journal.test_journal import *
async def scene():
    journal = Journal(Path({path!r}))
    await call(journal, request("kept"))
    attempt = Attempt("begun", 0, "here", 100, 0.5)
    await journal.record_intent(request("begun"), attempt)
    print("ready", flush=True)
    sys.stdin.readline()
asyncio.run(scene())
"""


def holder(path):
    code = HOLD.format(root=str(ROOT), path=str(path))
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_only_one_process_writes_and_a_killed_one_leaves_no_lock(path):
    with holder(path) as process:
        with pytest.raises(InputError, match="another process is running this"):
            Journal(path)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with Journal(path) as journal:
        assert list(texts(journal)) == ["kept"]
        assert journal.in_doubt() == ["begun"]


def test_after_a_fault_every_further_call_is_told(path):
    journal = Journal(path)
    journal._db.execute("DROP TABLE attempts")
    with pytest.raises(Stopped, match="cannot be written"):
        asyncio.run(call(journal, request("a")))
    with pytest.raises(Stopped, match="cannot be written"):
        journal.store_outcome(request("b"), WORDS)
    with pytest.raises(Stopped, match="cannot be written"):
        journal.flush()
    journal.close()
    journal.close()


def test_a_call_in_doubt_takes_its_answer_from_the_parent(written, tmp_path):
    async def begin():
        with Journal(tmp_path / "fork.sqlite") as journal:
            await journal.record_intent(request("a"), Attempt("a", 0, "here", 100, 0.5))

    asyncio.run(begin())
    with Journal(tmp_path / "fork.sqlite", parent=written) as journal:
        assert journal.lookup_call(request("a")) == WORDS


def deleted(path):
    for file in path.parent.iterdir():
        file.unlink()


def moved(path):
    path.parent.rename(path.parent.with_name("elsewhere"))


def replaced(path):
    path.rename(path.with_name("old"))
    path.write_bytes(b"")


@pytest.mark.parametrize("lose", [deleted, moved, replaced])
def test_a_call_is_not_begun_once_the_journal_has_lost_its_place(tmp_path, lose):
    path = tmp_path / "run" / "journal.sqlite"
    path.parent.mkdir()

    async def two_calls(journal):
        await call(journal, request("a"))
        lose(path)
        attempt = Attempt("b", 0, "here", reserved=100, reserved_usd=0.5)
        with pytest.raises(Stopped, match="deleted, moved or replaced"):
            await journal.record_intent(request("b"), attempt)

    journal = Journal(path)
    try:
        asyncio.run(two_calls(journal))
    finally:
        journal.close()


def test_a_journal_gives_the_mark_of_an_answer_without_a_rule_back(path):
    said = CallOutcome.of_reply(Reply("{}", Usage(), "offline", unruled=True))
    with Journal(path) as journal:
        journal.store_outcome(request("a"), said)
    with Journal(path) as journal:
        reply = journal.lookup_call(request("a")).reply()
    assert (reply.model, reply.unruled) == ("offline", True)
