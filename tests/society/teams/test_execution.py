"""Ideas that are carried out: outcomes around their worth, and what follows from them."""

from types import SimpleNamespace

import numpy as np
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.build import build_society
from virsci_society.scenarios.runs.execute import replay, run_scenario
from virsci_society.society.literature.landscape import appearance
from virsci_society.society.teams.execution import (
    GIVEN_UP,
    NO_MONEY,
    NULL_RESULT,
    ExecutionAttempt,
    worth_of_text,
)

BASE = {
    "population.ecosystem.scientists": 60,
    "population.ecosystem.papers": 400,
    "founding.teams_per_year": 60,
    "worth": {"use": "landscape"},
}
QUICK = {"use": "fixed", "length": "30d"}
MIXED = [
    {"share": 1, "name": name, "protocol": {"use": "wordless", "replication": share}}
    for name, share in (("none", 0), ("some", 0.5))
]


def lived(until="2y", attempt=None, **keys):
    execution = {"use": "attempt", "duration": QUICK} | (attempt or {})
    scenario = load_scenario(
        "community/assembly", until=until, seed=3, **BASE | {"execution": execution} | keys
    )
    society = build_society(scenario)
    society.run_to_end()
    return society, society.log.rows


def outcomes(rows):
    """Team -> (started, ended, worth, outcome, state, success, replicates, cost, rated)."""
    return {row[0]: row[1:] for row in rows["outcomes"]}


@pytest.fixture(scope="module")
def plain():
    return lived(attempt={"noise": 0})


def test_every_idea_has_the_outcome_of_its_worth_and_its_time_passes(plain):
    society, rows = plain
    found = outcomes(rows)
    papers = {row[0]: row for row in rows["papers"]}
    assert len(found) > 50
    for team, (started, ended, worth, outcome, state, _, replicates, *_) in found.items():
        assert ended - started == 30.0
        assert outcome == worth
        assert state == ("succeeded" if worth >= 0.5 else "failed")
        assert replicates is None
        # The worth is that of what was published, and the paper comes after the outcome.
        assert society.world.landscape.worth(society.literature.vector(team)[None])[0] == worth
        assert papers[team][4] >= ended


DROPS = {"machines": 1.98 / 9, "people": 0.63 / 9}
"""Published losses by execution, as shares of a scale from 1 to 10."""


def rated(drops, **keys):
    """A society of two kinds of teams, whose ideas look better than they are, and what became."""
    of = [{"share": 1, "name": name, "protocol": {"use": "wordless"}} for name in DROPS]
    attempt = {"noise": 0.1, "overrated": drops} | keys
    many = {"founding.teams_per_year": 300, "protocol": {"use": "mixture", "of": of}}
    society, rows = lived(attempt=attempt, **many)
    return society, rows, {row[0]: row[2] for row in rows["teams"]}


@pytest.mark.slow
def test_ratings_before_fall_by_what_is_stated_and_tell_nothing_of_outcomes():
    society, rows, kinds = rated(DROPS)
    _, flat, _ = rated(dict.fromkeys(DROPS, 0.0))
    found, same = outcomes(rows), outcomes(flat)
    assert {team: row[:-1] for team, row in found.items()} == {
        team: row[:-1] for team, row in same.items()
    }
    mean, deviation = society.world.landscape.moments
    for kind, drop in DROPS.items():
        of_kind = [team for team in found if kinds[team] == kind and found[team][8] is not None]
        before, after = (np.array([found[team][at] for team in of_kind]) for at in (8, 3))
        assert before - drop == pytest.approx([same[team][8] for team in of_kind], abs=2e-6)
        error = deviation / np.sqrt(len(before))
        # Ideas look to be worth what past papers are, and the drop, whatever they turn out to be.
        assert len(before) > 150
        assert abs(before.mean() - (mean + drop)) < 3 * error
        assert before.std() == pytest.approx(deviation, rel=0.2)
        assert abs(np.corrcoef(before, after)[0, 1]) < 3 / np.sqrt(len(before))


def test_what_is_overrated_is_a_protocol_of_the_scenario():
    for keys in ({}, {"protocol": {"use": "mixture", "of": MIXED}}):
        attempt = {"use": "attempt", "overrated": {"machine": 0.2}}
        with pytest.raises(
            InputError, match=r"overrated: 'machine' is not a protocol here; choose one of"
        ):
            load_scenario("community/assembly", **BASE | {"execution": attempt} | keys)
    attempt["overrated"] = {"wordless": 2}
    with pytest.raises(InputError, match="overrated"):
        load_scenario("community/assembly", **BASE | {"execution": attempt})


def test_a_landscape_that_nobody_reads_changes_nothing():
    none = {"worth": None, "execution": None}
    _, before = lived(**none)
    _, after = lived(execution=None)
    assert before == after
    assert not before["outcomes"]


@pytest.mark.slow
def test_noise_is_drawn_around_the_worth_for_each_team(plain):
    _, exact = plain
    _, noisy = lived(attempt={"noise": 0.3})
    exact, noisy = outcomes(exact), outcomes(noisy)
    errors = [noisy[team][3] - exact[team][2] for team in exact]
    assert [noisy[team][2] for team in exact] == [exact[team][2] for team in exact]
    assert np.std(errors) == pytest.approx(0.3, abs=0.06)
    assert np.mean(errors) == pytest.approx(0.0, abs=0.1)


@pytest.mark.slow
def test_with_full_signal_the_best_idea_is_taken_and_without_one_any(plain, monkeypatch):
    seen = {}

    def noted(world, name, text):
        worth = worth_of_text(world, name, text)
        seen.setdefault(name.partition("/idea ")[0], []).append(worth)
        return worth

    monkeypatch.setattr("virsci_society.protocols.wordless.worth_of_text", noted)
    _, rows = lived(attempt={"signal": 1}, **{"protocol.ideas": 6})
    chosen = {team: row[2] for team, row in outcomes(rows).items()}
    assert {team: max(seen[team]) for team in chosen} == chosen
    assert {len(seen[team]) for team in chosen} == {6}
    seen.clear()
    _, blind = lived(attempt={"signal": 0}, **{"protocol.ideas": 6})
    chance = [row[2] for row in outcomes(blind).values()]
    average = [np.mean(seen[team]) for team in outcomes(blind)]
    assert np.mean(chance) == pytest.approx(np.mean(average), abs=0.08)


@pytest.mark.parametrize("signal", [0.0, 0.3, 0.8, 1.0])
def test_appearance_correlates_with_worth_by_signal(signal):
    rng = np.random.default_rng(1)
    standing = rng.standard_normal(20_000)
    looks = [appearance(signal, one, rng.standard_normal()) for one in standing.tolist()]
    assert np.corrcoef(standing, looks)[0, 1] == pytest.approx(signal, abs=0.02)
    assert np.std(looks) == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
def test_failures_stay_in_the_drawer_with_the_stated_probability():
    _, rows = lived(attempt={"noise": 0, "drawer": 1})
    found, published = outcomes(rows), {row[0] for row in rows["papers"]}
    reasons = {row[0]: row[10] for row in rows["teams"]}
    for team, row in found.items():
        assert (team in published) == (row[4] == "succeeded")
        if row[4] == "failed":
            assert reasons[team] == NULL_RESULT
    _, some = lived(attempt={"noise": 0, "drawer": 0.5})
    failed = [team for team, row in outcomes(some).items() if row[4] == "failed"]
    kept = {row[0] for row in some["papers"]}
    assert np.mean([team not in kept for team in failed]) == pytest.approx(0.5, abs=0.15)


def test_what_takes_too_long_is_given_up_and_has_no_outcome():
    _, rows = lived(attempt={"patience": "20d"})
    found, reasons = outcomes(rows), {row[0]: row[10] for row in rows["teams"]}
    assert found
    for team, (started, ended, worth, outcome, state, *_) in found.items():
        assert (worth, outcome, state) == (None, None, "given_up")
        assert ended - started == 20.0
        assert reasons[team] == GIVEN_UP
    assert not rows["papers"]


@pytest.mark.slow
def test_ideas_are_carried_out_as_long_as_the_money_that_has_come_in_pays_for_them():
    # 60 teams a year hand in, and money for 20 of them comes in.
    _, rows = lived(attempt={"cost": 2.5, "budget": 50})
    begun = [row[0] for row in outcomes(rows).values()]
    refused = [row[7] for row in rows["teams"] if row[10] == NO_MONEY]
    assert len(refused) > 40
    paid = 0
    dates = [(day, True) for day in begun] + [(day, False) for day in refused]
    # What was begun in the last 30 days has not ended.
    for date, asked in sorted(one for one in dates if one[0] < 700):
        enough = (paid + 1) * 2.5 <= 50 * date / 365
        assert enough == asked
        paid += asked
    assert not {row[0] for row in rows["papers"]} - {*outcomes(rows)}
    assert paid == int(50 * 700 / 365 / 2.5)


@pytest.mark.slow
def test_work_at_the_desk_is_noted_and_waits_for_other_work():
    _, rows = lived(attempt={"effort": "10d"}, attention="on", until="1y")
    ended = outcomes(rows)
    sizes = {row[0]: row[4] for row in rows["teams"]}
    work = [row for row in rows["homework"] if row[2] == "execution" and row[0] in ended]
    assert len(work) == sum(sizes[team] for team in ended)
    assert {row[8] for row in work} == {10.0}
    assert any(row[6] > row[5] for row in work)  # began after it was given


@pytest.mark.slow
def test_replications_have_the_worth_of_what_they_repeat_and_cite_it():
    _, rows = lived(attempt={"noise": 0.2}, until="4y", **{"protocol.replication": 0.5})
    found = outcomes(rows)
    published = {row[0]: row[4] for row in rows["papers"]}
    authors, cited = {}, {(row[0], row[1]) for row in rows["citations"]}
    for paper, who, _ in rows["authorships"]:
        authors.setdefault(paper, set()).add(who)
    repeats = {team: row for team, row in found.items() if row[6] is not None}
    assert len(repeats) > 20
    for team, row in repeats.items():
        original = found[row[6]]
        assert original[4] == "succeeded"
        assert original[6] is None
        assert row[2] == original[2]
        assert published[row[6]] < row[0]
        if team in published:
            assert (team, row[6]) in cited
            assert not authors[team] & authors[row[6]]


@pytest.mark.slow
def test_teams_that_learn_find_more_than_those_that_do_not(plain):
    _, rows = lived(attempt={"noise": 0}, until="4y", **{"protocol.learning": 0.9})
    _, usual = lived(attempt={"noise": 0}, until="4y")
    late = [row[2] for row in outcomes(rows).values() if row[0] > 730]
    chance = [row[2] for row in outcomes(usual).values() if row[0] > 730]
    assert np.mean(late) > np.mean(chance) + 0.1


def informing(whom):
    """Who knows an outcome in a society, and the best outcome that was reached."""
    society, rows = lived(attempt={"noise": 0, "informed": whom}, until="1y")
    best = max(row[3] for row in outcomes(rows).values())
    return society, rows, best


def test_members_know_the_best_of_their_own_outcomes():
    society, rows, _ = informing("members")
    found, own = outcomes(rows), {}
    for row in rows["members"]:
        if row[0] in found:
            own.setdefault(row[1], []).append(found[row[0]][3])
    assert {name: lesson[0] for name, lesson in society.world.lessons.items()} == {
        name: max(known) for name, known in own.items()
    }


def test_as_many_strangers_are_informed_as_there_are_coauthors():
    society = build_society(load_scenario("community/assembly", **BASE))
    world, people = society.world, society.population
    leader = max(range(len(people)), key=lambda row: len(world.network.coauthors(row)[0]))
    team = SimpleNamespace(members=[people.names[leader]])
    lab = SimpleNamespace(world=world, rng=lambda purpose: np.random.default_rng(1))
    manuscript = SimpleNamespace(text=SimpleNamespace(read=lambda: None))

    def informed(whom):
        world.lessons.clear()
        ExecutionAttempt(informed=whom)._let_know(lab, team, manuscript, 1.0)
        return set(world.lessons)

    coauthors, strangers = informed("coauthors"), informed("strangers")
    assert coauthors == informed("first_coauthors")
    assert informed("members") <= coauthors & strangers
    assert len(strangers) == len(coauthors) > 3
    assert strangers != coauthors


@pytest.mark.slow
def test_coauthors_know_of_more_and_everybody_of_the_best():
    society, _, _ = informing("members")
    wider, _, _ = informing("coauthors")
    assert set(society.world.lessons) < set(wider.world.lessons)
    for name, lesson in society.world.lessons.items():
        assert wider.world.lessons[name][0] >= lesson[0]
    frozen, _, _ = informing("first_coauthors")
    assert set(society.world.lessons) <= set(frozen.world.lessons) <= set(wider.world.lessons)
    assert society.world.lessons != frozen.world.lessons != wider.world.lessons
    rewired, _, _ = informing("strangers")
    assert set(rewired.world.lessons) - set(wider.world.lessons)
    whole, _, best = informing("everybody")
    assert {name: lesson[0] for name, lesson in whole.world.lessons.items()} == {"": best}


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"worth": None}, "execution draws outcomes from the worth of ideas"),
        ({"execution": None, "protocol.ideas": 3}, "protocol has 'ideas', but no idea is carried"),
        ({"execution": None, "protocol.learning": 0.5}, "protocol has 'learning'"),
        (
            {"execution": None, "protocol": {"use": "mixture", "of": MIXED}},
            "protocol has 'replication'",
        ),
        ({"execution.budget": 50}, "budget: attempts cost nothing; set cost"),
        ({"execution.sucess": 1}, "did you mean 'success'"),
        ({"worth.ruggedness": 1}, "worth.ruggedness"),
    ],
)
def test_what_does_not_fit_together_is_refused(keys, told):
    with pytest.raises(InputError, match=told):
        load_scenario("community/assembly", **BASE | {"execution": {"use": "attempt"}} | keys)


@pytest.mark.slow
def test_a_talking_society_remembers_outcomes_and_is_the_same_when_replayed(tmp_path):
    attempt = {"use": "attempt", "duration": QUICK, "success": 0.05, "signal": 0.5}
    keys = {"worth": {"use": "landscape"}, "execution": attempt}
    scenario = load_scenario("quickstart", until="42w", metrics=["worth"], **keys)
    run = run_scenario(scenario, tmp_path / "run", page=False)
    assert replay(run) == (run / "digest").read_text(encoding="utf-8").strip()
    society = build_society(scenario)
    society.run_to_end()
    assert society.log.rows["outcomes"]
    said = [
        note.line
        for row in range(len(society.population))
        for note in society.population.scientist(row).memory
    ]
    assert any("Carried out, it worked." in one for one in said)
    assert any("Carried out, it did not work." in one for one in said)
