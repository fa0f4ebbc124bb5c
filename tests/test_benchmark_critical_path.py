"""The longest chain of calls that wait for one another."""

from benchmarks.critical_path import CriticalPath
from virsci_society.scenarios.planning.plan import longest_chain
from virsci_society.society.results.tables import TABLES


def row(table, **values):
    return tuple(values.get(column.name) for column in TABLES[table])


def call(id_, asked, sequence, needs="", act="utter", **values):
    values = {"stage": "topic", "team": "A/1", "scientist": "A"} | values
    return row("calls", call=id_, asked=asked, sequence=sequence, needs=needs, act=act, **values)


def log(calls=(), reads=(), meetings=(), members=(), papers=()):
    rows = {name: [] for name in TABLES}
    rows |= {"calls": list(calls), "reads": list(reads), "meetings": list(meetings)}
    return rows | {"members": list(members), "papers": list(papers)}


def read(date, sequence, needs, team="A/1"):
    return row("reads", answer=needs, team=team, date=date, sequence=sequence, needs=needs)


def test_calls_of_one_instant_wait_only_for_the_words_in_their_prompts():
    calls = [call("a", 0.0, 1), call("b", 0.0, 2), call("c", 1.0, 3, "a b")]
    chain = CriticalPath(log(calls), {"a": 2.0, "b": 5.0, "c": 1.0})
    assert chain.ends == {"a": 2.0, "b": 5.0, "c": 6.0}
    assert chain.length == 6.0


def test_what_a_team_has_read_holds_up_all_its_later_calls():
    calls = [call("a", 0.0, 1), call("b", 2.0, 3)]
    assert CriticalPath(log(calls, [read(1.0, 2, "a")]), {"a": 4.0, "b": 1.0}).length == 5.0
    assert CriticalPath(log(calls), {"a": 4.0, "b": 1.0}).length == 4.0


def test_an_invitation_waits_for_what_the_invitee_does_elsewhere():
    calls = [
        call("b", 0.0, 1, team="B/1", scientist="B"),
        call("a", 2.0, 1, act="invite", scientist="B"),
        call("c", 2.0, 2, scientist="A"),
    ]
    members = [row("members", team="B/1", scientist="B", joined=0.0)]
    meetings = [row("meetings", team="B/1", held=1.5)]
    rows = log(calls, [read(1.0, 2, "b", "B/1")], meetings, members)
    assert CriticalPath(rows, {"a": 1.0, "b": 3.0, "c": 1.0}).ends == {"b": 3.0, "a": 4.0, "c": 1.0}


def test_a_guest_is_waited_for_if_there_was_one():
    guest = call("a/guest/G", 0.0, 2, "a", "guest", scientist="G")
    calls = [call("a", 0.0, 1), guest, call("b", 1.0, 3, "a/guest")]
    seconds = dict.fromkeys(("a", "a/guest/G", "b"), 1.0)
    assert CriticalPath(log(calls), seconds).length == 3.0
    assert longest_chain(log(calls), seconds) == 3.0


def test_a_search_waits_for_the_papers_it_can_see():
    paper = row("papers", team="B/1", paper="B/1", published=5.0)
    calls = [
        call("b", 0.0, 1, team="B/1", scientist="B"),
        call("early", 5.0, 1, stage="ideas"),
        call("late", 6.0, 2, stage="ideas"),
    ]
    rows = log(calls, [read(5.0, 2, "b", "B/1")], papers=[paper])
    ends = CriticalPath(rows, {"b": 9.0, "early": 1.0, "late": 1.0}).ends
    assert (ends["early"], ends["late"]) == (1.0, 10.0)


def test_one_clock_waits_for_a_read_of_any_team_before_calls_of_later_dates():
    calls = [
        call("b", 0.0, 1, team="B/1", scientist="B"),
        call("a", 2.0, 1),
        call("again", 2.0, 2, "a", "re-ask"),
        call("early", 0.5, 3),
    ]
    rows = log(calls, [read(1.0, 2, "b", "B/1")])
    seconds = {"b": 7.0, "a": 1.0, "again": 2.0, "early": 1.0}
    assert longest_chain(rows, seconds) == 10.0
    assert CriticalPath(rows, seconds).ends["a"] == 3.0
