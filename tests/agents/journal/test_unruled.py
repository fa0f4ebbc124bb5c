"""Replies for which the offline scientist had no rule: a replay knows them, also old ones."""

import sqlite3

from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Reply, Request, Usage
from virsci_society.protocols.forms import Remark

ASKED = Request("t/1", Profile("Scientist1"), (), Remark)
SAID = CallOutcome.of_reply(Reply("{}", Usage(), "offline", unruled=True))


def test_a_journal_gives_the_mark_back_and_keeps_it_as_earlier_releases_did(tmp_path):
    path = tmp_path / "calls.db"
    with Journal(path) as journal:
        journal.store_outcome(ASKED, SAID)
    with Journal(path) as journal:
        reply = journal.lookup_call(ASKED).reply()
        assert (reply.model, reply.unruled) == ("offline", True)
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT model FROM calls").fetchall() == [("offline-unruled",)]
