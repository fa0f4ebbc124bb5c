"""Reviews: what reviewers are told, what becomes of what they say, and that nobody asks twice."""

import json

import pytest

from tests.journal_rows import texts
from virsci_society.agents.errors import Diverged, Stopped
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply, Usage
from virsci_society.agents.replies.form import render_form
from virsci_society.scenarios.review.review import (
    ReviewedPaper,
    ask_panel,
    average_table,
    last_readable,
    read_averages,
    review_table,
    write_reviews,
)
from virsci_society.scenarios.review.review_kinds import KINDS, REVIEWER

PAPER = ReviewedPaper("S1/1", "Graphs that speak", "We join graphs. We measure them.", "graphs")
OTHER = ReviewedPaper(
    "S2/1", "Maps that listen", "A map is drawn, because it is asked for.", "maps"
)


def filled(form, score):
    """A form with one score everywhere."""
    fields = form.model_fields
    said = {field.alias: score for field in fields.values()}
    said |= {"Summary": "So it is.", "Strengths": ["a"], "Weaknesses": ["b"], "Questions": ["c?"]}
    said |= {"Ethics": False, "Reason": "Near to nothing."}
    return json.dumps({name: said[name] for name in (field.alias for field in fields.values())})


class Scripted(Backend):
    """Says what a test has written for a call id, else a form full of fives; counts its calls."""

    script: dict[str, object]
    asked: list[str]
    seen: list[object]

    @property
    def inline(self):
        return False

    async def complete(self, request):
        self.asked.append(request.id)
        self.seen.append(request)
        said = self.script.get(request.id, 5)
        if isinstance(said, Exception):
            raise said
        text = filled(request.form, said) if isinstance(said, int) else said
        return Reply(text, Usage(100, 10, estimated=False), "scripted")


def reviewed(kind, papers=(PAPER,), *, script=None, journal=None, seed=1):
    """The opinions of a panel, and the backend that gave them."""
    backend = Scripted(script=script or {}, asked=[], seen=[])
    return ask_panel(Gateway(backend, 4, journal), KINDS[kind], papers, seed), backend


CALLS = {"virsci": 3, "novelty": 3, "proposal": 3 * (1 + 3) + 1, "proposal_told": 3}
"""Calls for each abstract, where every reply can be parsed."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_is_filled_and_holds_the_abstract_and_nothing_of_its_authors(kind):
    _, backend = reviewed(kind)
    for request in backend.seen:
        system, user = request.messages
        assert system.content == REVIEWER
        assert PAPER.title in user.content
        assert PAPER.abstract in user.content
        assert "{{" not in user.content
        assert "S1" not in user.content
        schema = request.form.schema_for(request.slots)
        assert user.content.endswith(f"\n{render_form(schema, schema_sent=False)}")
        # A reflection names the fields in the review that it shows.
        assert all(field.alias in user.content for field in request.form.model_fields.values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_makes_the_calls_that_it_promises(kind):
    opinions, backend = reviewed(kind, (PAPER, OTHER))
    assert len(backend.asked) == 2 * CALLS[kind] == len(opinions)
    assert len(set(backend.asked)) == len(backend.asked)
    assert f"S1/1/{kind}/1/0" in backend.asked


def test_the_rater_of_the_released_program_is_told_what_to_expect_and_that_of_the_text_is_not():
    opinions, backend = reviewed("proposal_told")
    told, blind = backend.seen[0], reviewed("proposal")[1].seen[0]
    for words in ("leader", "the best quality is to be expected of it", "one scientist alone"):
        assert words in told.messages[1].content
        assert words not in blind.messages[1].content
    assert '"Overall"' not in told.messages[1].content
    table = average_table(KINDS["proposal_told"], opinions).set_index("dimension")["score"]
    assert table["overall"] == pytest.approx(table.drop("overall").mean())


def test_three_reviews_are_averaged():
    script = {f"S1/1/virsci/{n}/0": score for n, score in ((1, 4), (2, 6), (3, 8))}
    opinions, _ = reviewed("virsci", script=script)
    row = average_table(KINDS["virsci"], opinions).iloc[0]
    assert (row["score"], row["reviews"], row["spread"]) == (6.0, 3, 2.0)
    assert (row["dimension"], row["from"]) == ("overall", "mean")


def test_a_reflection_is_shown_the_review_before_it_and_the_last_one_counts():
    script = {"S1/1/proposal/2/3": 9, "S1/1/proposal/2/2": 3, "S1/1/proposal/0/0": 7}
    opinions, backend = reviewed("proposal", script=script)
    last = next(one for one in backend.seen if one.id == "S1/1/proposal/2/3")
    assert '"Overall": 3.0' in last.messages[1].content
    assert "round 3 of 3" in last.messages[1].content
    chair = next(one for one in backend.seen if one.id == "S1/1/proposal/0/0")
    assert chair.messages[1].content.count('"Overall": 9.0') == 1
    assert chair.messages[1].content.count('"Overall": 5.0') == 2
    table = average_table(KINDS["proposal"], opinions)
    assert set(table["score"]) == {7.0}
    assert set(table["from"]) == {"meta-review"}
    assert set(table["dimension"]) == set(KINDS["proposal"].scores)


def test_what_stays_unreadable_is_missing_and_never_a_default():
    script = {f"S1/1/virsci/2/0{again}": "no form at all" for again in ("", "/re-ask1", "/re-ask2")}
    script |= {"S1/1/virsci/1/0": 4, "S1/1/virsci/3/0": 6}
    opinions, backend = reviewed("virsci", script=script)
    assert len(backend.asked) == 5
    table = review_table(KINDS["virsci"], opinions)
    assert table["verdict"].fillna("").tolist() == ["", "unreadable", ""]
    assert table["calls"].tolist() == [1, 3, 1]
    assert table["prompt_tokens"].tolist() == [100, 300, 100]
    row = average_table(KINDS["virsci"], opinions).iloc[0]
    assert (row["score"], row["reviews"]) == (5.0, 2)


def test_an_unreadable_reflection_leaves_the_review_before_it_standing():
    script = {f"S1/1/proposal/1/2{again}": "-" for again in ("", "/re-ask1", "/re-ask2")}
    script["S1/1/proposal/1/1"] = 8
    opinions, backend = reviewed("proposal", script=script)
    third = next(one for one in backend.seen if one.id == "S1/1/proposal/1/3")
    assert '"Overall": 8.0' in third.messages[1].content
    of_first = [one for one in opinions if one.reviewer == 1]
    assert [one.round for one in of_first] == [0, 1, 2, 3]
    assert last_readable(of_first).overall == 5


def test_a_stop_costs_nothing_twice(tmp_path):
    script = {"S2/1/proposal/2/1": Stopped("pulled the plug")}
    with Journal(tmp_path / "j.sqlite") as journal, pytest.raises(Stopped):
        reviewed("proposal", (PAPER, OTHER), script=script, journal=journal)
    with Journal(tmp_path / "j.sqlite") as journal:
        before = set(texts(journal))
        opinions, backend = reviewed("proposal", (PAPER, OTHER), journal=journal)
    assert before
    assert not before & set(backend.asked)
    assert before | set(backend.asked) >= {one.calls[0].id for one in opinions}
    whole, _ = reviewed("proposal", (PAPER, OTHER))
    kind = KINDS["proposal"]
    assert review_table(kind, opinions).equals(review_table(kind, whole))


def test_another_abstract_under_a_known_id_is_refused_before_anything_is_paid(tmp_path):
    with Journal(tmp_path / "j.sqlite") as journal:
        reviewed("virsci", journal=journal)
    changed = ReviewedPaper(PAPER.id, PAPER.title, "Another abstract.")
    backend = Scripted(script={}, asked=[], seen=[])
    with Journal(tmp_path / "j.sqlite") as journal, pytest.raises(Diverged, match="S1/1/virsci/"):
        ask_panel(Gateway(backend, 4, journal), KINDS["virsci"], [changed, OTHER], 1)
    assert backend.asked == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_offline_scientist_reviews_by_rule_the_same_every_time(kind):
    def once():
        opinions = ask_panel(Gateway(Offline(), 4), KINDS[kind], [PAPER, OTHER], 1)
        return review_table(KINDS[kind], opinions)

    table = once()
    assert table.equals(once())
    assert set(table["model"]) == {"offline"}
    assert set(table["rung"]) == {"strict"}
    scores = table[list(KINDS[kind].scores)].to_numpy(dtype=float)
    assert (scores >= 1).all()
    assert (scores <= 10).all()


def test_kinds_and_panels_stand_side_by_side_in_a_run_folder(tmp_path):
    virsci, _ = reviewed("virsci")
    novelty, _ = reviewed("novelty")
    for panel in ("one", "two"):
        write_reviews(tmp_path / "reviews" / panel, KINDS["novelty"], novelty)
        write_reviews(tmp_path / "reviews" / panel, KINDS["virsci"], virsci)
        write_reviews(tmp_path / "reviews" / panel, KINDS["virsci"], virsci)
    table = read_averages(tmp_path)
    assert table["panel"].tolist() == ["one"] * 2 + ["two"] * 2
    assert table["kind"].tolist() == ["virsci", "novelty"] * 2
    assert len(read_averages(tmp_path / "elsewhere")) == 0
