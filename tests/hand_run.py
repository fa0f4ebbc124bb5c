"""A small run written by hand: two teams, seven scientists, numbers that a reader can check."""

import json

import numpy as np
import pytest

from tests.metrics.remembered_metrics import HandRun, remembered
from virsci_society.metrics.novelty.novelty import Database, Databases
from virsci_society.society.results.run import Vectors, write_vectors
from virsci_society.society.results.table_files import write_tables
from virsci_society.society.results.tables import TABLES

STAGES = ("topic", "ideas", "novelty", "abstract")
MEMBERS = {"S1/1": ("S1", "S2", "S3", "S4"), "S5/1": ("S5", "S1")}
MANIFEST = {
    "name": "hand/made",
    "seed": 7,
    "days": 100.0,
    "boundary": 2015,
    "replicates": 1,
    "backend": {
        "use": "offline",
        "model": "rule-based",
        "about": "rule-based scientists, not a language model: "
        "these figures say nothing about language models",
    },
    "versions": {"virsci-society": "0.1.0", "python": "3.11"},
}


def calls_of(team, founded, members, turns, visit=1):
    """All calls of a team without adaptive pacing: utterances, ballots, summaries."""
    rows = []
    for place, stage in enumerate(STAGES):
        act = "vote" if stage == "novelty" else "utter"
        for turn in range(1, turns + 1):
            for seat, who in enumerate(members):
                rows.append(call(team, stage, visit, turn, seat, act, who, founded + place * 8))
            if act == "utter" and turn < turns:
                asked = founded + place * 8 + 1
                rows.append(call(team, stage, visit, turn, 0, "summarise", members[0], asked))
    return rows


COLUMNS = {
    "scientists": "scientist topic papers citations career_start arrived institution",
    "teams": "team leader protocol target_size size founded formed finished published state reason "
    "stage topic restarts strikes ties live idea_by",
    "members": "team scientist role joined left stayed load",
    "invitations": "team inviter invitee sent answered outcome load ties similarity cross_team",
    "consultations": "team asker guest date stage question answer cross_team",
    "meetings": "team stage visit turn called due held ended size waited_for",
    "homework": "team scientist stage visit turn assigned started done effort switching",
    "calls": "call team stage visit turn seat act scientist asked due form defaulted unruled model "
    "prompt_tokens completion_tokens prompt_hash reply rung verdict reason",
    "reads": "answer team date needs",
    "papers": "paper team title abstract published topic keywords live neighbour_query",
    "authorships": "paper scientist position",
    "citations": "citing cited date inside",
    "submissions": "team submission round submitted decided decision reviews score",
    "interests": "scientist date paper topic interests entered dropped",
    "interventions": "number date settings ranked removed",
    "careers": "scientist date change place",
    "outcomes": "team started ended worth outcome state success replicates cost rated",
    "ties": "source target date papers",
}
"""The columns that the rows of these tests fill, the last ones not always; others are missing."""


def full(rows):
    """Rows of the contract from the rows of these tests."""
    complete = {}
    for name, listed in rows.items():
        own = COLUMNS[name].split()
        filled = [dict(zip(own[: len(row)], row, strict=True)) for row in listed]
        order = [column.name for column in TABLES[name]]
        complete[name] = [tuple(row.get(column) for column in order) for row in filled]
    return complete


def call(team, stage, visit, turn, seat, act, who, asked, tail=""):
    """One row of the table of calls."""
    name = f"{team}/{stage}/{visit}/{turn}/{seat}/{act}{tail}"
    words = json.dumps({"Response": "hm"})
    return (
        *(name, team, stage, visit, turn, seat, act, who, asked, asked + 0.25, "Remark"),
        *(False, False, "rule-based", 100, 20, "0" * 64, words),
    )


def hand_rows():
    """Rows of every table."""
    rows = {
        "scientists": [
            ("S1", "graphs", 10, 100, 2000, None),
            ("S2", "graphs", 4, None, 2008, None),
            ("S3", "vision", 2, 5, 2010, None),
            ("S4", "speech", 0, 0, None, None),
            ("S5", "vision", 7, 70, 2005, None),
            ("S6", "speech", 3, 9, 2009, None),
            ("S7", "speech", 1, 2, 2014, None),
        ],
        "teams": [
            *[("S1/1", "S1", "virsci", 4, 4, 2.0, 5.0, 40.0, 50.0, "published", None)],
            *[("S5/1", "S5", "virsci", 2, 2, 10.0, 12.0, None, None, "running", None)],
            *[("S6/1", "S6", "virsci", 3, 1, 20.0, None, 30.0, None, "dissolved", "too small")],
        ],
        "members": [
            ("S1/1", "S1", "leader", 2.0, 40.0, True, 0),
            ("S1/1", "S2", "member", 3.0, 40.0, True, 0),
            ("S1/1", "S3", "member", 4.0, 40.0, True, 0),
            ("S1/1", "S4", "member", 5.0, 40.0, True, 0),
            ("S5/1", "S5", "leader", 10.0, None, None, 0),
            ("S5/1", "S1", "member", 12.0, None, None, 1),
            ("S6/1", "S6", "leader", 20.0, 30.0, True, 0),
        ],
        "invitations": [
            ("S1/1", "S1", "S2", 2.0, 3.0, "accepted", 0, 3, 0.9, False),
            ("S1/1", "S1", "S3", 2.0, 4.0, "accepted", 0, 0, 0.2, False),
            ("S1/1", "S1", "S4", 2.0, 5.0, "accepted", 0, 0, 0.1, False),
            ("S5/1", "S5", "S1", 10.0, 12.0, "accepted", 1, 1, 0.4, True),
            ("S5/1", "S5", "S2", 10.0, 13.0, "declined", 1, 0, 0.3, True),
            ("S6/1", "S6", "S3", 20.0, 22.0, "declined", 1, 0, 0.5, True),
            ("S6/1", "S6", "S1", 21.0, 23.0, "full", 2, 0, 0.5, True),
            ("S6/1", "S6", "S7", 29.0, None, None, 0, 0, 0.5, False),
        ],
        "consultations": [
            ("S1/1", "S2", "S5", 12.5, "topic", "why?", "because", True),
            ("S5/1", "S5", "S7", 15.0, "topic", "how?", "slowly", False),
        ],
        "meetings": [
            ("S1/1", "topic", 1, 1, 5.0, 8.0, 8.0, 8.5, 4, None),
            ("S1/1", "ideas", 1, 1, 9.0, 13.0, 16.0, 16.5, 4, "S1"),
            ("S5/1", "topic", 1, 1, 12.0, 14.0, 15.0, 15.25, 2, "S1"),
        ],
        "homework": [
            ("S1/1", "S1", "topic", 1, 1, 8.5, 8.5, 9.0, 0.5),
            ("S1/1", "S2", "topic", 1, 1, 8.5, 9.5, 10.5, 1.0),
            ("S5/1", "S5", "topic", 1, 1, 15.25, 15.25, 17.25, 2.0),
            ("S5/1", "S1", "topic", 1, 1, 15.25, 18.25, None, 2.0),
        ],
        "reads": [("S1/1/topic/1/1/0/utter", "S1/1", 9.0, "")],
        "papers": [("S1/1", "S1/1", "Graphs that speak", "We join. " * 9, 50.0, "graphs", "a; b")],
        "authorships": [("S1/1", who, n) for n, who in enumerate(MEMBERS["S1/1"])],
        "citations": [("S1/1", "P1", 50.0, False)],
        "ties": [
            ("S1", "S2", -1.0, 3),
            ("S1", "S5", -1.0, 1),
            ("S5", "S6", -1.0, 2),
            *[("S1", "S2", 50.0, 1), ("S1", "S3", 50.0, 1), ("S1", "S4", 50.0, 1)],
            *[("S2", "S3", 50.0, 1), ("S2", "S4", 50.0, 1), ("S3", "S4", 50.0, 1)],
        ],
    }
    ends = (("abstract", "graphs", 0, 0, 0), ("topic", None, 0, 0, 0), ("selection", None, 0, 0, 0))
    rows["teams"] = [row + end for row, end in zip(rows["teams"], ends, strict=True)]
    calls = calls_of("S1/1", 8.0, MEMBERS["S1/1"], turns=5)
    calls += [
        call("S1/1", "selection", 1, 0, 0, "invite", "S2", 2.0),
        call("S1/1", "topic", 2, 1, 0, "utter", "S1", 9.0),
        call("S1/1", "topic", 2, 1, 1, "utter", "S2", 9.0),
        call("S1/1", "topic", 1, 1, 1, "re-ask", "S2", 8.0, "/utter/1"),
        call("S1/1", "topic", 1, 1, 1, "guest", "S5", 12.5),
        call("S1/1", "topic", 1, 5, 0, "decide", "S1", 12.0),
    ]
    # One reply was asked for again; every other was strict JSON.
    again = "S1/1/topic/1/1/1/utter"
    rows["calls"] = [(*row, "re-asked" if row[0] == again else "strict", None) for row in calls]
    return rows


def hand_databases():
    """Five papers on the axes of the plane, in two years each."""
    past = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [2, 0]], dtype=np.float32)
    return Databases(
        past=Database(past, np.array([2010, 2010, 2011, 2011, 2012]), None, ids("P", 5)),
        contemporary=Database(
            past[::-1].copy(),
            np.array([2016, 2016, 2017, 2017, 2017]),
            np.array([4.0, 0.0, np.nan, 8.0, 2.0]),
            ids("C", 5),
        ),
    )


def ids(letter, count):
    """P1, P2, ..."""
    return tuple(f"{letter}{number}" for number in range(1, count + 1))


@pytest.fixture(scope="session", autouse=True)
def _remembered_metrics():
    """Compute each metric once for the same rows of the tables that it reads."""
    from virsci_society.metrics.registry import METRICS

    with pytest.MonkeyPatch.context() as patch:
        for name, metric in METRICS.items():
            patch.setitem(METRICS, name, remembered(name, metric))
        yield


@pytest.fixture
def rows():
    """The rows, free to be changed by a test."""
    return hand_rows()


@pytest.fixture(scope="session")
def make_run():
    """Build a run from rows; without rows, the hand-made one."""

    def build(rows=None, manifest=None, **more):
        told = {**MANIFEST, **(manifest or {})}
        return HandRun(full(hand_rows() if rows is None else rows), told, {"seed": 7}, **more)

    return build


@pytest.fixture
def put(tmp_path):
    """Write a run folder from rows: its manifest, its tables, and the vectors of a run."""

    def writing(name, rows, manifest=None, run=None):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps({**MANIFEST, **(manifest or {})}))
        write_tables(folder, full(rows))
        if run is not None:
            write_vectors(folder, run.vectors)
        return folder

    return writing


def _hand_run():
    vectors = Vectors(("S1/1",), np.array([[1.0, 0.0]], dtype=np.float32))
    more = {"vectors": vectors, "databases": hand_databases(), "digest": "d" * 64}
    return HandRun(full(hand_rows()), MANIFEST, {"seed": 7}, **more)


@pytest.fixture(scope="session")
def hand_run():
    """Build the hand-made run with vectors and databases."""
    return _hand_run


@pytest.fixture
def run():
    """The hand-made run with vectors and databases."""
    return _hand_run()


@pytest.fixture(scope="session")
def measured():
    """Every metric of the hand-made run, computed once; tests only read them."""
    from virsci_society.metrics.registry import METRICS

    whole = _hand_run()
    return {name: metric(whole) for name, metric in METRICS.items()}


@pytest.fixture
def empty_run(make_run):
    """A run in which nothing happened."""
    return make_run({})


@pytest.fixture
def add_call():
    """One more row of the table of calls."""
    return call
