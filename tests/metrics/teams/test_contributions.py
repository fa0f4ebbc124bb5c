"""Contributions of teams whose words are known, worked by hand, and those of scripted teams."""

import json

import pytest

from tests.hand_run import full
from virsci_society.metrics.teams.contributions import KINDS, contributions, team_roles
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES

IDEA, DRAFT, REVISION = ({"Idea": "i"}, {"Title": "t", "Abstract": "a"}, {"Abstract": "b"})
SAID = [
    ("A", "topic", "utter", "Remark", {"Response": "r"}),
    ("D", "topic", "utter", "Remark", {"Response": " ", "Direction": ""}),
    ("A", "topic", "summarise", "Summary", {"Summary": "s"}),
    ("B", "ideas", "utter", "Idea", IDEA),
    ("E", "ideas", "utter", "Idea", IDEA),
    ("G", "ideas", "guest", "GuestReply", {"Answer": "g"}),
    ("E", "topic", "stay", "Stay", {"Stay": False, "Reason": "busy"}),
    ("A", "novelty", "vote", "Ballot", {"Decision Made": "Idea 1"}),
    ("B", "novelty", "vote", "Ballot", {"Decision Made": "Idea 1"}),
    ("C", "abstract", "critique", "Critique", {"Soundness": "w"}),
    ("A", "abstract", "utter", "Draft", DRAFT),
    ("B", "abstract", "utter", "Revision", REVISION),
    ("A", "abstract", "re-ask", "Draft", DRAFT),
    ("X", "publication", "review", "Review", {"Comments": "bad"}),
    ("Y", "publication", "invite", "Willingness", {"Reasoning": "yes"}),
]
"""What A (who leads), B, C and D said; E left after its idea was taken; G was asked, X reviewed."""


@pytest.fixture
def rows():
    """A/1 as above, with a silent author D; B/1 is wordless; C/1 dissolved before anything."""
    calls = [
        {
            "call": f"A/1/{n}",
            "team": "A/1",
            "stage": stage,
            "act": act,
            "scientist": who,
            "form": form,
        }
        | {"reply": json.dumps(reply), "defaulted": False, "sequence": n, "asked": float(n)}
        for n, (who, stage, act, form, reply) in enumerate(SAID)
    ]
    # A default stands for words that nobody said.
    calls.append(calls[11] | {"call": "A/1/z", "scientist": "D", "defaulted": True, "sequence": 99})
    head = ("virsci", 4, 4, 0.0, 5.0)
    told = full(
        {
            "teams": [
                *[("A/1", "A", *head, 40.0, 50.0, "published", None, "", "", 0, 0, 0, False, "E")],
                ("B/1", "B", *head, 40.0, 60.0, "published", None),
                ("C/1", "C", *head, 20.0, None, "dissolved", "too small"),
            ],
            "members": [
                *[("A/1", who, "member", 1.0, 40.0, True, 0) for who in "ABCD"],
                ("A/1", "E", "member", 2.0, 20.0, False, 0),
                ("B/1", "B", "leader", 0.0, 40.0, True, 0),
                ("C/1", "C", "leader", 0.0, 20.0, True, 0),
            ],
            "papers": [(team, team, "t", "a", 50.0, "", "") for team in ("A/1", "B/1")],
            "authorships": [*(("A/1", who, at) for at, who in enumerate("ABCD")), ("B/1", "B", 0)],
        }
    )
    order = [column.name for column in TABLES["calls"]]
    return told | {"calls": [tuple(one.get(name) for name in order) for one in calls]}


@pytest.fixture
def run(rows):
    return Run.from_rows(rows, {"seed": 1, "days": 100.0}, {})


def by_name(run, team="A/1"):
    table = contributions(run)
    return table[table["team"] == team].set_index("scientist")


def test_contributions_worked_by_hand(run):
    table = by_name(run)
    counts = {who: {kind: int(row[kind]) for kind in KINDS} for who, row in table.iterrows()}
    # The others of the seven kinds are zero.
    expected = {
        "A": dict.fromkeys(("discussion", "criticism", "draft", "coordination"), 1),
        "B": dict.fromkeys(("discussion", "criticism", "revision"), 1),
        "C": {"criticism": 1},
        "D": {},
        "E": {"idea": 1, "discussion": 1},
        "G": {"advice": 1},
    }
    assert counts == {who: dict.fromkeys(KINDS, 0) | own for who, own in expected.items()}
    assert table["leads"].to_dict() == dict.fromkeys("AE", True) | dict.fromkeys("BCDG", False)
    assert table.loc[list("ABCD"), "position"].tolist() == [0, 1, 2, 3]


def test_how_flat_a_team_is_and_what_cannot_be_told(run):
    table = team_roles(run).set_index("team")
    row = table.loc["A/1"]
    assert (row["people"], row["leads"], row["lead_ratio"], row["tall"]) == (4, 1, 0.25, True)
    for team in ("B/1", "C/1"):
        assert table.at[team, "why"] == "not measurable: nothing was said"
        assert table.loc[team].drop(["paper", "why"]).isna().all()
    assert set(contributions(run)["team"]) == {"A/1"}
