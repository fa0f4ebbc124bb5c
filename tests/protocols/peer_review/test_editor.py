"""Review before publication: dates, desks, replacements and what becomes of the manuscript.

A wordless team of two hands in on day 0. A week of screening, a week for an answer, a day of work
on a review, a week for the decision: the first is made on day 22, and the paper appears on day 82.
"""

import pytest
from pydantic import ValidationError

from tests.protocols.scripted_backend import play
from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.peer_review.protocol import PeerReview
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.protocols.wordless import Wordless
from virsci_society.society.formation.founding import Poisson
from virsci_society.society.kernel.durations import FixedDuration, Times

PAIR = Wordless(team_size=2, meetings=0)
DAY = FixedDuration(length=1.0)
MINUTES = 10 / 1440
TIMES = Times(
    homework=FixedDuration(length=2.0), leader_effort=1.5, utterance=FixedDuration(length="10m")
)


def rules(**settings):
    return PeerReview(**{"effort": DAY, **settings})


def reviewed(synthetic, script=None, **settings):
    how = {name: settings.pop(name) for name in ("until", "meanwhile") if name in settings}
    how = {"until": 2000.0, "times": TIMES, "publication": rules(**settings)} | how
    return play(synthetic, PAIR, script, **how)


def recommending(*by_round, score=7):
    """All reviewers of a round recommend the same."""

    def script(call, request):
        if call.act == "review":
            return {"Recommendation": by_round[call.turn - 1], "Overall": score}
        return None

    return script


def declining(call, request):
    return {"Selected Action": "Action 2"} if call.act == "invite" else None


def leaving(date, whom):
    """Those whom a function of the team names leave the society on a date."""

    def meanwhile(society):
        def process():
            yield society.env.timeout(date)
            team, *_ = society.world.teams.values()
            for who in whom(team):
                society.world.depart(society.population.rows[who], "removed")

        society.env.process(process())

    return meanwhile


def first_referee(team):
    return [team.referees[0].scientist]


def desks_taken(days):

    def meanwhile(society):
        def sit(who):
            with society.world.attention.desk(who).request() as place:
                yield place
                yield society.env.timeout(days)

        for who in society.population.names:
            society.env.process(sit(who))

    return meanwhile


def authors_of(played):
    return {row["scientist"] for row in played.rows("members")}


def nobody_waits(society):
    desks = society.world.attention._desks.values()
    return not any(desk.users or desk.queue for desk in desks) and not society.world.reviewing


def test_dates_of_an_acceptance(synthetic):
    played = reviewed(synthetic)
    (one,) = played.rows("submissions")
    assert (one["submitted"], one["decided"], one["decision"]) == (0.0, 22.0, "accept")
    assert (one["reviews"], one["score"]) == (3, 7.0)
    assert (played.team["finished"], played.team["published"]) == (0.0, 82.0)
    # They may work in other teams while their manuscript is judged.
    assert {row["left"] for row in played.rows("members")} == {0.0}
    referees = played.rows("referees")
    assert [row["seat"] for row in referees] == [0, 1, 2]
    assert len({row["scientist"] for row in referees} - authors_of(played)) == 3
    told = ("invited", "answered", "assigned", "delivered", "outcome", "recommendation")
    for row in referees:
        wanted = [7.0, 14.0, 14.0, 15.0, "delivered", "accept", 0]
        assert [row[name] for name in (*told, "reminders")] == wanted
    work = played.rows("homework")
    assert {(row["stage"], row["visit"], row["turn"]) for row in work} == {("publication", 1, 1)}
    assert {(row["assigned"], row["started"], row["done"]) for row in work} == {(14.0, 14.0, 15.0)}
    assert nobody_waits(played.society)


def test_a_revision_is_work_of_the_authors_and_comes_back_to_the_same_reviewers(synthetic):
    played = reviewed(synthetic, recommending("revise", "accept"))
    first, second = played.rows("submissions")
    # The leader's homework takes 3 days, the other's 2; then ten minutes of writing.
    handed_in = 22.0 + 3.0 + MINUTES
    assert (first["decision"], first["decided"]) == ("revise", 22.0)
    assert second["submitted"] == pytest.approx(handed_in, abs=1e-5)
    # No answer is waited for: screening, a day of work, a week.
    assert second["decided"] == pytest.approx(handed_in + 15.0, abs=1e-5)
    assert played.team["published"] == second["decided"] + 60.0
    referees = played.rows("referees")
    again = [row for row in referees if row["round"] == 2]
    assert [row["scientist"] for row in again] == [row["scientist"] for row in referees[:3]]
    assert {row["invited"] for row in again} == {None}
    (paper,) = played.rows("papers")
    (rewritten,) = played.of_form("Rewrite")
    assert rewritten.word("Title") in paper["title"]
    assert rewritten.word("Abstract") in paper["abstract"]


def test_words_reach_those_who_are_to_read_them_and_nobody_else(synthetic):
    played = reviewed(synthetic, recommending("revise", "accept"))
    (rewritten,) = played.of_form("Rewrite")
    first = played.of(act="review", turn=1)
    second = played.of(act="review", turn=2)
    assert len(first) == len(second) == 3
    assert not any(said.word("Comments") in other.user for said in first for other in first)
    for said in first:
        assert said.word("Comments") in rewritten.user
        readers = [other.call.who for other in second if said.word("Comments") in other.user]
        assert readers == [said.call.who]
    for said in second:
        assert "This is round 2 of its review, the last one" in said.user
        assert all(
            rewritten.word(field) in said.user for field in ("Title", "Abstract", "Response")
        )
    reasons = [said.word("Reasoning") for said in played.of_form("Willingness")]
    assert not any(reason in said.user for reason in reasons for said in played.said)


@pytest.mark.parametrize("blind", ["none", "single", "double"])
def test_names_are_withheld_as_stated(synthetic, blind):
    played = reviewed(synthetic, recommending("revise", "accept"), blind=blind)
    authors = authors_of(played)
    outside = [*played.of_form("Willingness"), *played.of_form("Review")]
    assert len(outside) == 9
    for said in outside:
        text = said.system + said.user
        named = [author for author in authors if f"{author}:" in text or f"{author}," in text]
        assert bool(named) == (blind != "double")
        if blind == "double":
            assert "names of its authors are withheld" in text
            assert not any(f"{author}\n" in text or f"{author} " in text for author in authors)
    (rewritten,) = played.of_form("Rewrite")
    reviewers = {said.call.who for said in played.of_form("Review")}
    assert all((who + ":" in rewritten.user) == (blind == "none") for who in reviewers)


def test_a_rejected_manuscript_goes_elsewhere_and_then_nowhere(synthetic):
    played = reviewed(synthetic, recommending("reject"), submissions=2)
    told = ("submission", "submitted", "decided", "decision")
    rows = [tuple(row[name] for name in told) for row in played.rows("submissions")]
    assert rows == [(1, 0.0, 22.0, "reject"), (2, 52.0, 74.0, "reject")]
    assert (played.team["state"], played.team["reason"]) == ("dissolved", "rejected")
    assert played.team["published"] is None
    assert not played.rows("papers")
    assert played.events("dissolved")[0]["date"] == 74.0


def test_in_the_last_round_nothing_is_revised(synthetic):
    played = reviewed(synthetic, recommending("revise", "revise"))
    assert [row["decision"] for row in played.rows("submissions")] == ["revise", "reject"]
    assert len(played.of_form("Rewrite")) == 1
    alone = reviewed(synthetic, recommending("revise"), rounds=1)
    assert not alone.of_form("Rewrite")
    assert alone.team["reason"] == "rejected"


@pytest.mark.parametrize(("too_few", "state"), [("reject", "dissolved"), ("accept", "published")])
def test_where_all_decline_the_editor_goes_by_what_is_stated(synthetic, too_few, state):
    played = reviewed(synthetic, declining, invitations=2, too_few=too_few)
    referees = played.rows("referees")
    # Two are asked for each of three seats, one after the other: answers on days 14 and 21.
    assert sorted((row["seat"], row["answered"]) for row in referees) == [
        (seat, answered) for seat in range(3) for answered in (14.0, 21.0)
    ]
    assert {row["outcome"] for row in referees} == {"declined"}
    assert len({row["scientist"] for row in referees}) == 6
    (one,) = played.rows("submissions")
    assert (one["decided"], one["reviews"], one["score"]) == (28.0, 0, None)
    assert played.team["state"] == state
    assert not played.of_form("Review")


def test_where_one_declines_another_is_asked(synthetic):
    def script(call, request):
        declines = call.act == "invite" and request.asked < 10 and call.seat == 1
        return {"Selected Action": "Action 2"} if declines else None

    played = reviewed(synthetic, script)
    rows = [(row["seat"], row["outcome"], row["delivered"]) for row in played.rows("referees")]
    declined, delivered = (1, "declined", None), [(0, 15.0), (1, 22.0), (2, 15.0)]
    assert set(rows) == {declined, *((seat, "delivered", date) for seat, date in delivered)}
    assert played.rows("submissions")[0]["decided"] == 29.0


def test_with_fewer_reviews_than_are_needed_they_do_not_count(synthetic):
    def script(call, request):
        return {"Selected Action": "Action 2"} if call.act == "invite" and call.seat else None

    settings = {"invitations": 1, "too_few": "reject"}
    assert reviewed(synthetic, script, least=1, **settings).team["state"] == "published"
    few = reviewed(synthetic, script, least=2, **settings)
    assert few.team["reason"] == "rejected"
    assert few.rows("submissions")[0]["reviews"] == 1


@pytest.mark.parametrize(
    ("reminders", "outcome", "delivered", "reminded", "over"),
    # Agreed on day 14, due on day 44, reminded on days 44 and 58, given up on day 72. The desk is
    # free on day 60, the review done on day 61.
    [
        (2, "delivered", 61.0, 2, 61.0),
        (1, "late", None, 1, 58.0),
        (0, "late", None, 0, 44.0),
        (None, "delivered", 61.0, 2, 61.0),
    ],
)
def test_the_busy_are_late_reminded_and_given_up(
    synthetic, reminders, outcome, delivered, reminded, over
):
    played = reviewed(synthetic, reminders=reminders, meanwhile=desks_taken(60.0))
    for row in played.rows("referees"):
        told = [row[name] for name in ("outcome", "delivered", "reminders", "assigned")]
        assert told == [outcome, delivered, reminded, 14.0]
    assert played.rows("submissions")[0]["decided"] == over + 7.0
    assert bool(played.of(act="review")) == (outcome == "delivered")
    assert len(played.events("reminded")) == 3 * reminded
    assert nobody_waits(played.society)


def test_a_review_given_up_while_it_is_written_is_read_by_nobody(synthetic):
    played = reviewed(synthetic, effort=FixedDuration(length=40.0), reminders=0)
    assert {row["outcome"] for row in played.rows("referees")} == {"late"}
    assert played.count(act="review") == 3
    reads = {row["answer"] for row in played.rows("reads")}
    assert not any("/review/" in answer for answer in reads)
    assert {row["effort"] for row in played.rows("homework")} == {30.0}
    assert played.team["reason"] == "rejected"


def test_other_work_at_the_desk_comes_first(synthetic):
    """A reviewer who works in a team of its own takes the manuscript up after its homework."""
    played = play(
        synthetic,
        Wordless(team_size=3, meetings=3),
        founding=Poisson(teams_per_year=4.0),
        times=Times(homework=FixedDuration(length=9.0), publication_delay=5.0),
        publication=rules(choice="uniform"),
        until=300.0,
    )
    work = [row for row in played.rows("homework") if row["stage"] == "publication"]
    done = [row for row in work if row["effort"] == 1.0]
    waited = [row["started"] - row["assigned"] for row in done]
    assert len(done) > 100
    assert max(waited) > 9.0
    assert min(waited) == 0.0
    delivered = [row for row in played.rows("referees") if row["delivered"] is not None]
    took = [row["delivered"] - row["assigned"] for row in delivered]
    assert max(took) > 10.0
    most = max(row["open"] for row in played.rows("referees"))
    assert most <= 1


@pytest.mark.parametrize(("date", "answered"), [(10.0, 14.0), (14.5, 14.0)])
def test_a_reviewer_who_leaves_the_society_is_replaced(synthetic, date, answered):
    played = reviewed(synthetic, meanwhile=leaving(date, first_referee))
    first, second = [row for row in played.rows("referees") if row["seat"] == 0]
    assert (first["outcome"], first["answered"], first["delivered"]) == ("gone", answered, None)
    # Asked when the other was found to be gone, and a week and a day later done.
    found = max(date, 14.0)
    assert (second["invited"], second["delivered"]) == (found, found + 8.0)
    assert played.rows("submissions")[0]["decided"] == found + 15.0
    assert played.team["state"] == "published"
    assert nobody_waits(played.society)


def test_reviewers_of_the_first_round_who_are_gone_are_replaced_in_the_second(synthetic):
    script, meanwhile = recommending("revise", "accept"), leaving(23.0, first_referee)
    played = reviewed(synthetic, script, meanwhile=meanwhile)
    second = [row for row in played.rows("referees") if row["round"] == 2 and row["seat"] == 0]
    assert [row["outcome"] for row in second] == ["gone", "delivered"]
    # Nothing comes to the desk of somebody who is not here any more.
    assert second[0]["assigned"] is None
    assert second[1]["assigned"] is not None
    newcomer = [said for said in played.of(act="review", turn=2) if said.call.seat == 0]
    assert "Your own review" not in newcomer[-1].user


def test_where_the_leader_is_gone_the_next_author_revises(synthetic):
    script, meanwhile = recommending("revise", "accept"), leaving(16.0, lambda team: [team.leader])
    played = reviewed(synthetic, script, meanwhile=meanwhile)
    (rewritten,) = played.of_form("Rewrite")
    assert rewritten.call.who in authors_of(played) - {played.team["leader"]}
    assert "You lead this team" not in rewritten.user + rewritten.system
    assert played.team["state"] == "published"


def test_where_all_authors_are_gone_the_manuscript_stays_as_it_was(synthetic):
    all_of_them = leaving(16.0, lambda team: [one.scientist for one in team.memberships])
    played = reviewed(synthetic, recommending("revise", "accept"), meanwhile=all_of_them)
    assert not played.of_form("Rewrite")
    (paper,) = played.rows("papers")
    assert "No words were exchanged" in paper["abstract"]


@pytest.mark.parametrize(
    ("until", "outcome", "answered"),
    [(3.0, None, None), (10.0, None, None), (14.5, None, 14.0), (20.0, "delivered", 14.0)],
)
def test_a_run_may_end_in_the_middle_of_a_review(synthetic, until, outcome, answered):
    played = reviewed(synthetic, until=until)
    assert (played.team["state"], played.team["reason"]) == ("finished", None)
    (one,) = played.rows("submissions")
    assert (one["decided"], one["decision"], one["reviews"]) == (None, None, None)
    referees = played.rows("referees")
    assert len(referees) == (0 if until < 7.0 else 3)
    for row in referees:
        assert (row["outcome"], row["answered"]) == (outcome, answered)
        assert row["recommendation"] is None


def test_a_review_without_words_does_not_count(synthetic):
    def script(call, request):
        if call.act == "review" and call.seat == 0:
            return {"Recommendation": "perhaps"}
        return None

    played = reviewed(synthetic, script)
    outcomes = [row["outcome"] for row in played.rows("referees")]
    assert sorted(outcomes) == ["delivered", "delivered", "unread"]
    (one,) = played.rows("submissions")
    assert (one["decision"], one["reviews"]) == ("accept", 2)


def uniform(synthetic, **settings):
    founding, publication = Poisson(teams_per_year=3.0), rules(choice="uniform", **settings)
    how = {"founding": founding, "times": TIMES, "until": 200.0, "publication": publication}
    return play(synthetic, PAIR, **how)


@pytest.mark.slow
def test_nobody_judges_a_coauthor_unless_it_is_allowed(synthetic):
    def asked(conflicts):
        played = uniform(synthetic, conflicts=conflicts)
        people, network = played.society.population, played.society.network
        authors = {}
        for row in played.rows("members"):
            authors.setdefault(row["team"], []).append(row["scientist"])
        pairs = [
            (people.rows[author], people.rows[row["scientist"]], row["invited"])
            for row in played.rows("referees")
            for author in authors[row["team"]]
        ]
        assert len(pairs) > 100
        assert not any(one == other for one, other, _ in pairs)
        return [other in network.coauthors(one, date)[0] for one, other, date in pairs]

    assert not any(asked("excluded"))
    assert any(asked("allowed"))


def test_by_interests_the_nearest_are_asked(synthetic):
    played = reviewed(synthetic, nearest=0.01, conflicts="allowed", reviewers=1)
    (said,) = played.of_form("Review")
    manuscript = said.request.slots["manuscript"]
    world = played.society.world
    without = frozenset(authors_of(played))
    (nearest,) = world.nearest_scientists(1, without, 7.0, manuscript.words())
    assert said.call.who == nearest.id


def test_the_invitation_shows_what_the_scientist_has_to_do(synthetic):
    played = play(
        synthetic,
        Wordless(team_size=3, meetings=1),
        founding=Poisson(teams_per_year=4.0),
        times=TIMES,
        until=150.0,
        publication=rules(max_open=5, effort=FixedDuration(length=20.0)),
    )
    rows = {(row["team"], row["round"], row["scientist"]): row for row in played.rows("referees")}
    seen = set()
    for said in played.of_form("Willingness"):
        row = rows[said.call.team, said.call.turn, said.call.who]
        assert f"You are working in {row['load']} team" in said.user
        assert f"not delivered: {row['open']}." in said.user
        seen.add((row["load"] > 0, row["open"] > 0))
    assert {(True, False), (False, True)} <= seen


@pytest.mark.slow
def test_virsci_teams_hand_in_and_are_judged_by_rules(synthetic):
    """The rule-based scientists fill every form, by rules of their own."""
    played = play(
        synthetic,
        VirSci(team_size=3, turns=1),
        founding=Poisson(teams_per_year=2.0),
        times=Times(publication_delay=15.0, reply_window=5.0, meeting_notice=3.0),
        publication=PeerReview(submissions=2),
        backend=Offline(),
        until=250.0,
    )
    calls = [row for row in played.rows("calls") if row["stage"] == "publication"]
    assert {row["form"] for row in calls} == {"Willingness", "Review", "Rewrite"}
    assert not any(row["unruled"] or row["defaulted"] for row in calls)
    assert len({row["call"] for row in played.rows("calls")}) == len(played.rows("calls"))
    decisions = {row["decision"] for row in played.rows("submissions")}
    assert {"accept", "revise", "reject"} <= decisions


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [({"least": 4}, "least is more than reviewers"), ({"patience": 0}, "greater than 0")],
)
def test_settings_that_cannot_be_are_refused(settings, complaint):
    with pytest.raises(ValidationError, match=complaint):
        PeerReview(**settings)
