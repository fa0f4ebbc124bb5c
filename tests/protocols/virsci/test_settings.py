"""The switches of VirSci: their defaults, what they refuse, and how many people a leader wants."""

from collections import Counter

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import chisquare
from typer.testing import CliRunner

from tests.protocols.scripted_backend import play
from virsci_society.protocols.policies.coauthorship import Coauthorship
from virsci_society.protocols.team_sizes import (
    NegativeBinomialSize,
    ObservedSize,
    StatedSize,
    TeamSize,
)
from virsci_society.protocols.virsci.protocol import STAGES, VirSci
from virsci_society.scenarios.cli.app import app
from virsci_society.society.formation.founding import Once
from virsci_society.society.formation.world_view import ObservedSizes
from virsci_society.society.kernel.streams import Streams


def test_defaults_are_those_of_the_paper_where_it_states_them():
    virsci = VirSci()
    assert virsci.team_size == 4
    assert [virsci.turns_of(stage) for stage in STAGES] == [5, 5, 5, 5]
    held = virsci.discussion
    assert (held.pacing, held.max_turns, held.speaking_order) == ("fixed", 7, "round_table")
    assert held.invitation == held.knowledge == virsci.novelty_assessment == "on"
    assert (virsci.topic.leaving, virsci.memory) == ("on", "off")
    assert (virsci.abstract.self_review, virsci.abstract.threshold) == ("off", 85.0)
    assert virsci.references.model_dump() == {
        **{"ideas": "on", "assessment": "on", "topic": "off", "draft": "off", "guest": "off"},
        **{"count": 8, "per_idea": 3, "sentences": 2, "queries": "one", "diversity": 0.0},
        **{"self_review": None, "query": "idea"},
    }
    assert set(virsci.prompts.model_dump().values()) == {"off", "fixed", "named", None}
    assert virsci.selection == Coauthorship(explore=1.0)
    assert virsci.freshness is None
    assert virsci.diversity is None
    assert virsci.topic == VirSci(topic="free").topic
    assert (virsci.topic.start, virsci.topic.given, virsci.topic.one_of) == (None, None, None)
    assert virsci.name == "virsci"


@pytest.mark.parametrize(
    "wrong",
    [
        *({"team_size": 0}, {"team_size": 3, "min_size": 4}, {"min_size": 0}, {"min_size": "some"}),
        *({"turns": 0}, {"turns": {"topic": 0}}, {"turns": {"coffee": 1}}, {"team": 4}),
        *({"discussion": {"max_turns": 0}}, {"discussion": {"pacing": "slow"}}),
        *({"discussion": {"speaking_order": "loudest"}}, {"discussion": {"invitation": "maybe"}}),
        *({"discussion": {"outsiders": 0}}, {"discussion": {"profiles": 0}}, {"memory": "all"}),
        *({"max_invitations": 0}, {"inviting": "never"}, {"novelty_assessment": 2}),
        *({"topic": {"restarts": -1}}, {"topic": "open"}, {"topic": {"given": ""}}),
        *({"topic": {"start": "a", "given": "b"}}, {"min_size_after_leaving": 0}),
        *({"abstract": {"new_ideas": -1}}, {"abstract": {"threshold": 101}}),
        {"abstract": {"threshold": float("nan")}},
        *({"freshness": 1.5}, {"diversity": -0.1}),
        *({"references": {"count": 0}}, {"references": {"papers": 3}}),
        *({"references": {"per_idea": 0}}, {"references": {"sentences": -1}}),
        *({"references": {"queries": "many"}}, {"references": {"diversity": 1.1}}),
        *({"prompts": {"carry": "some"}}, {"prompts": {"idea_order": "random"}}),
        *({"prompts": {"sorted": "on"}}, {"profile": "fast"}, {"profile": ["paper"]}),
        {"confidence": {"clarity": 0, "feasibility": 0, "novelty": 0}},
        *({"confidence": {"clarity": -1}}, {"confidence": {"clarity": float("inf")}}),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_by_name(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        VirSci(**wrong)


NONE = ObservedSizes(())


def fit(size, expected, observed=NONE):
    rng = Streams(1).stream("sizes")
    counts = Counter(size.draw(observed, rng) for _ in range(3000))
    assert set(counts) == set(expected)
    total = sum(expected.values())
    return chisquare(
        [counts[key] for key in expected], [3000 * share / total for share in expected.values()]
    ).pvalue


def test_stated_sizes_follow_their_weights():
    assert fit(StatedSize(weights={5: 3, 2: 1, 3: 2}), {2: 1, 3: 2, 5: 3}) > 0.001
    rng = Streams(1).stream("sizes")
    assert {StatedSize(weights={1: 0, 4: 0.5}).draw(NONE, rng) for _ in range(50)} == {4}


def test_observed_sizes_are_those_of_past_teams_within_the_bounds():
    observed = ObservedSizes([1, 1, 2, 3, 3, 4, 9, 30])
    assert fit(ObservedSize(), {2: 1, 3: 2, 4: 1}, observed) > 0.001
    assert fit(ObservedSize(smallest=1, largest=3), {1: 2, 2: 1, 3: 2}, observed) > 0.001
    rng = Streams(1).stream("sizes")
    assert ObservedSize(smallest=5, largest=8).draw(observed, rng) == 5
    assert ObservedSize().draw(NONE, rng) == 2


def test_observed_sizes_may_be_those_of_the_last_years_without_an_upper_bound():
    dates = np.array([-3000.0, -3000.0, -900.0, -900.0, -10.0])
    observed = ObservedSizes([2, 3, 2, 40, 40], dates)
    size = ObservedSize(smallest=1, largest=None, since=1000)
    assert fit(size, {2: 1, 40: 2}, observed) > 0.001
    assert fit(ObservedSize(largest=None), {2: 2, 3: 1, 40: 2}, observed) > 0.001


def test_observed_sizes_grow_in_the_mean():
    size, rng = ObservedSize(growth=0.1), Streams(1).stream("sizes")
    drawn = [size.draw_on(3 * 365.0, ObservedSizes([5]), rng) for _ in range(4000)]
    assert np.mean(drawn) == pytest.approx(1 + 4 * np.exp(0.3), abs=0.03)
    assert set(drawn) == {6, 7}


def test_negative_binomial_sizes_have_the_stated_mean_and_variance():
    size, rng = NegativeBinomialSize(mean=4, dispersion=3, growth=0.2), Streams(1).stream("sizes")
    for day, excess in ((0.0, 3.0), (730.0, 3 * np.exp(0.4))):
        drawn = np.array([size.draw_on(day, NONE, rng) for _ in range(6000)])
        variance = excess + excess**2 / 3
        assert drawn.min() >= 1
        assert drawn.mean() == pytest.approx(1 + excess, abs=5 * (variance / 6000) ** 0.5)
        assert drawn.var() == pytest.approx(variance, rel=0.15)
    assert NegativeBinomialSize(mean=1).draw(NONE, rng) == 1
    with pytest.raises(ValidationError, match="smallest is larger than mean"):
        NegativeBinomialSize(mean=2, smallest=3)


@pytest.mark.parametrize(
    "weights",
    [{}, {0: 1.0}, {2: -1.0, 3: 2.0}, {2: 0.0}, {2: float("nan")}, {2: float("inf")}],
    ids=str,
)
def test_weights_and_bounds_of_sizes_are_checked(weights):
    with pytest.raises(ValidationError, match="sizes start at 1"):
        StatedSize(weights=weights)
    with pytest.raises(ValidationError, match="smallest is larger"):
        ObservedSize(smallest=4, largest=3)


def test_a_size_of_ones_own(synthetic):
    class Trios(TeamSize):
        def draw(self, observed, rng):
            return 3

    assert play(synthetic, VirSci(team_size=Trios(), turns=1)).team["size"] == 3


def test_every_team_draws_its_own_size(synthetic):
    founding = Once(count=8, every="300d")
    size = StatedSize(weights={1: 1, 2: 1, 3: 1})
    played = play(synthetic, VirSci(team_size=size, turns=1), founding=founding)
    wanted = [row["target_size"] for row in played.rows("teams")]
    assert len(set(wanted)) > 1
    assert [row["size"] for row in played.rows("teams")] == wanted
    assert all(row["state"] == "published" for row in played.rows("teams"))


def leaves(*seats):
    def script(call, request):
        return {"Stay": False} if call.act == "stay" and call.seat in seats else None

    return script


def test_starting_and_going_on_need_sizes_of_their_own(synthetic):
    """The paper's teams start with n members and go on when some have left."""

    def ends(gone, **sizes):
        protocol = VirSci(team_size=4, turns=1, **sizes)
        team = play(synthetic, protocol, leaves(*range(1, gone + 1))).team
        return team["state"], team["reason"]

    fell = ("dissolved", "too small after leaving")
    assert ends(1, min_size="all") == fell
    paper = {"min_size": "all", "min_size_after_leaving": 2}
    assert ends(2, **paper)[0] == "published"
    assert ends(3, **paper) == fell
    assert ends(3, min_size_after_leaving=1)[0] == "published"
    assert ends(1, min_size=2, min_size_after_leaving="all") == fell
    refused = play(
        synthetic,
        VirSci(team_size=4, turns=1, replacement="off", **paper),
        lambda call, _: {"Selected Action": "Action 2"} if call.act == "invite" else None,
    )
    assert refused.team["reason"] == "too small"


# ---- pages of one's own -------------------------------------------------------------------


def test_a_page_of_ones_own_stands_in_place_of_the_one_of_its_name(synthetic, tmp_path):
    page = "Our own words on {{ topic.words() | quote }}\n\n{{ you }}\n\n{{ answer_form }}\n"
    (tmp_path / "idea_turn.txt").write_text(page, encoding="utf-8")
    (tmp_path / "notes.md").write_text("no page", encoding="utf-8")
    protocol = VirSci(team_size=2, turns=1, prompts={"folder": str(tmp_path)})
    played = play(synthetic, protocol)
    assert played.team["state"] == "published"
    assert {said.form for said in played.said if "Our own words" in said.user} == {"Idea"}
    assert all(said.user.startswith("Our own words on > zq") for said in played.of_form("Idea"))
    assert all('"Experiment"' in said.user for said in played.of_form("Idea"))
    assert VirSci().pages["idea_turn"].text != page


@pytest.mark.parametrize("names", [["idea_trun.txt", "draft.txt"], ["draft.md"], []], ids=str)
def test_pages_that_nobody_would_read_are_refused_with_the_names_there_are(tmp_path, names):
    for name in names:
        (tmp_path / name).write_text("x", encoding="utf-8")
    asked = ["run", "virsci/paper", "--set", f"protocol.prompts.folder={tmp_path}"]
    refused = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "run")])
    assert refused.exit_code == 2
    told = " ".join(refused.stderr.replace("│", " ").split())
    assert "prompts.folder" in told
    assert ("idea_trun: not known" if len(names) > 1 else "no .txt file is there") in told
    assert "agreement, another_turn, ballot" in told
    assert "Traceback" not in told
    assert not (tmp_path / "run").exists()
