"""Measures of random runs against plain loops over their rows."""

import numpy as np
import pytest

from virsci_society.metrics.cost import calls_by_act, inference_cost
from virsci_society.metrics.report.page import render_page
from virsci_society.metrics.summary import summarise_run
from virsci_society.metrics.teams.concurrency import (
    acceptance,
    max_memberships,
    utilisation,
    waiting,
    weekly,
)
from virsci_society.metrics.teams.teams import teams
from virsci_society.society.results.digest import digest_tables

DAYS = 120.0
PEOPLE = [f"S{n}" for n in range(14)]
STAGES = ("topic", "ideas", "novelty", "abstract")


def team_rows(rng, rows, number):
    """One team with its members, invitations, meetings, homework and calls."""
    leader, *others = rng.choice(PEOPLE, int(rng.integers(1, 6)), replace=False).tolist()
    team, founded = f"{leader}/{number}", float(rng.integers(0, 100))
    finished = founded + float(rng.integers(5, 60))
    over = finished < DAYS
    state = str(rng.choice(["published", "dissolved", "finished"])) if over else "running"
    end = finished if over else None
    visible = end if state == "published" else None
    reason = "a reason" if state == "dissolved" else None
    head = (team, leader, "virsci", 5, len(others) + 1, founded, founded, end, visible)
    rows["teams"].append((*head, state, reason, "topic", None, 0, 0, 0))
    for who in (leader, *others):
        role = "leader" if who == leader else "member"
        left = float(rng.integers(int(founded) + 1, int(finished) + 1)) if who in others else end
        stayed = rng.random() < 0.7 or who == leader
        rows["members"].append((team, who, role, founded, end if stayed else left, stayed, 0))
        load = int(rng.integers(0, 3))
        said = str(rng.choice(["accepted", "declined", "full"]))
        sent = founded + 0.5
        row = (team, leader, who, sent, sent + 1, said, load, 0, 0.5, load > 0)
        rows["invitations"].append(row)
    for place, stage in enumerate(STAGES):
        for turn in (1, 2):
            due = founded + 2 + place
            held = due + float(rng.choice([0.0, 0.5, 2.0]))
            size = len(others) + 1
            rows["meetings"].append(
                (team, stage, 1, turn, due - 1, due, held, held + 0.25, size, None)
            )
            for seat, who in enumerate((leader, *others)):
                start = held + float(rng.choice([0.25, 1.0]))
                work = (team, who, stage, 1, turn, held + 0.25, start, start + 1, 1.0)
                rows["homework"].append(work)
                act = str(rng.choice(["utter", "vote", "guest", "re-ask"]))
                name = f"{team}/{stage}/{turn}/{seat}/{act}"
                told = ("Remark", False, False, "m", 10, 5, "0", "{}")
                visit = int(rng.choice([1, 1, 2]))
                rows["calls"].append(
                    (name, team, stage, visit, turn, seat, act, who, due, due, *told)
                )


@pytest.fixture(params=[0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 6))])
def random_rows(request, rows):
    """Rows of a random run, with the hand-made scientists and ties."""
    rng = np.random.default_rng(request.param)
    kept = {name: rows[name] for name in ("scientists", "ties")}
    made = {name: [] for name in rows} | kept
    for number in range(12):
        team_rows(rng, made, number)
    return made


@pytest.fixture
def random_run(random_rows, make_run):
    return make_run(random_rows, {"days": DAYS})


def test_weekly_counts_are_those_of_a_plain_loop(random_rows, random_run):
    for row in weekly(random_run).to_dict("records"):
        day = row["date"]
        spans = [(team[5], team[7]) for team in random_rows["teams"]]
        assert row["teams_in_flight"] == sum(inside(day, *span) for span in spans)
        held = {}
        for member in random_rows["members"]:
            if inside(day, member[3], member[4]):
                held[member[1]] = held.get(member[1], 0) + 1
        for least in (1, 2, 3):
            assert row[f"in_{least}"] == sum(count >= least for count in held.values())
        assert row["max_memberships"] == max(held.values(), default=0)
        sent = [one[3] for one in random_rows["invitations"] if one[9]]
        assert row["cross_invitations"] == (sum(date <= day for date in sent) if day else 0)


def inside(day, start, end):
    return start <= day and (end is None or day < end)


def test_most_memberships_are_those_of_a_plain_loop(random_rows, random_run):
    members = random_rows["members"]
    most = 0
    for who in PEOPLE:
        spans = [(row[3], row[4]) for row in members if row[1] == who]
        counts = [sum(inside(start, *other) for other in spans) for start, _ in spans]
        most = max([most, *counts])
    assert max_memberships(random_run) == most


def test_waiting_by_size_is_that_of_a_plain_loop(random_rows, random_run):
    for row in waiting(random_run).to_dict("records"):
        rooms = [one for one in random_rows["meetings"] if one[8] == row["size"]]
        waits = [one[6] - one[5] for one in rooms]
        assert row["meetings"] == len(rooms)
        assert row["meeting_wait"] == pytest.approx(np.mean(waits))
        assert row["meeting_wait_max"] == max(waits)
        assert row["delayed"] == pytest.approx(np.mean([wait > 0 for wait in waits]))
        named = {one[0] for one in rooms}
        queues = [one[6] - one[5] for one in random_rows["homework"] if one[0] in named]
        assert row["homework_queue"] == pytest.approx(np.mean(queues))


def test_utilisation_is_that_of_a_plain_loop(random_rows, random_run):
    for row in utilisation(random_run).to_dict("records"):
        own = [one for one in random_rows["members"] if one[1] == row["scientist"]]
        days = 0.0
        for team, _, _, joined, left, _, _ in own:
            for meeting in random_rows["meetings"]:
                if meeting[0] == team and inside(meeting[6], joined, left):
                    days += max(min(meeting[7], DAYS) - meeting[6], 0.0)
        assert row["memberships"] == len(own)
        assert row["meeting_days"] == pytest.approx(days)


def test_acceptance_by_load_is_that_of_a_plain_loop(random_rows, random_run):
    for row in acceptance(random_run).to_dict("records"):
        asked = [one[5] for one in random_rows["invitations"] if one[6] == row["load"]]
        assert row["accepted"] == asked.count("accepted")
        assert row["answered"] == asked.count("accepted") + asked.count("declined")
        assert row["low"] <= row["share"] <= row["high"]


def test_inference_cost_is_that_of_a_plain_loop(random_rows, random_run):
    for row in inference_cost(random_run).to_dict("records"):
        own = [one for one in random_rows["calls"] if one[1] == row["team"]]
        counted = [one for one in own if one[6] in ("utter", "vote")]
        assert row["inference_cost"] == sum(one[3] == 1 for one in counted)
        assert row["extra_cost"] == sum(one[3] > 1 for one in counted)
    assert calls_by_act(random_run)["calls"].sum() == len(random_rows["calls"])


def test_composition_of_teams_is_that_of_a_plain_loop(random_rows, random_run):
    table = teams(random_run).set_index("team")
    for one in random_rows["teams"]:
        row = table.loc[one[0]]
        own = [m[1] for m in random_rows["members"] if m[0] == one[0] and m[5] is not False]
        pairs = {(a, b) for a, b, date, _ in random_rows["ties"] if date < one[5]}
        known = [
            who for who in own if any((min(who, o), max(who, o)) in pairs for o in own if o != who)
        ]
        assert row["size"] == len(own)
        assert row["freshness"] == pytest.approx(1 - len(known) / len(own))
        assert 0 <= row["newcomers"] <= 1
        assert 0 <= row["elsewhere"] <= 1


@pytest.mark.slow
def test_summary_page_and_digest_do_not_depend_on_the_order(random_rows, make_run, request):
    rng = np.random.default_rng(1)
    turned = {
        name: [listed[n] for n in rng.permutation(len(listed))]
        for name, listed in random_rows.items()
    }
    first = make_run(random_rows, {"days": DAYS})
    second = make_run(turned, {"days": DAYS})
    assert summarise_run(first) == summarise_run(second)
    assert digest_tables(first.tables()) == digest_tables(second.tables())
    if request.node.callspec.params["random_rows"] == 0:
        assert render_page(first) == render_page(second)
