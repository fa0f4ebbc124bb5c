"""The studies of the library: they read, they resolve, and they vary what the paper varies."""

from operator import attrgetter

import pytest

from virsci_society.metrics.novelty.novelty import Novelty
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.protocols.virsci.released_code import RELEASED_CODE
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.study_file import studies

OURS = sorted(name for name in studies() if name.startswith("studies/virsci/"))
PAPER = {f"studies/virsci/table-{n}" for n in range(1, 10)} | {
    f"studies/virsci/figure-{n}" for n in (4, 5, 6, 8, 9, 10)
}
BASELINES = ("hypogen", "ai_scientist")
"""Arms of Table 1 that are other systems."""
STAGES = ("topic", "ideas", "novelty", "abstract")


@pytest.fixture(scope="module")
def read():
    """The design of a study of the library, read once."""
    designs = {}

    def design(name):
        if name not in designs:
            designs[name] = read_study(name)
        return designs[name]

    return design


def protocols(design):
    """The resolved protocol of every arm of VirSci, by its name."""
    scenarios = zip(design.arms, design.scenarios, strict=True)
    return {arm.name: scenario.protocol for arm, scenario in scenarios if arm.name not in BASELINES}


def test_every_table_and_figure_that_can_be_run_has_a_study():
    assert set(OURS) == PAPER
    assert "studies/paper-vs-code" in studies()


@pytest.mark.parametrize("name", sorted(studies()))
def test_every_study_of_the_library_resolves_every_arm(read, name):
    design = read(name)
    assert design.file.replicates == 20 or name not in OURS
    assert len(design.arms) == len(design.scenarios) >= 2
    adapted = design.file.match.adapt if design.file.match is not None else {}
    # Two arms that are alike as they are written differ by the key that is chosen for one of them.
    arms = zip(design.arms, design.scenarios, strict=True)
    told = {
        (str(one.identity()), str(adapted.get(arm.listed)), str(arm.budget)) for arm, one in arms
    }
    assert len(told) == len(design.arms)


def dotted(settings):
    """The values by dotted key, one section deep."""
    return {
        f"{name}.{key}" if key else name: value
        for name, below in settings.model_dump().items()
        for key, value in (below.items() if isinstance(below, dict) else [("", below)])
    }


@pytest.mark.parametrize("name", sorted(PAPER))
def test_in_the_papers_studies_a_team_is_complete_and_nobody_leaves(read, name):
    design = read(name)
    virscis = protocols(design)
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        if arm.name in BASELINES:
            assert scenario.protocol.neighbour_query == "idea"
            assert scenario.novelty == Novelty(evaluated="abstract", words=200)
            continue
        virsci = virscis[arm.name]
        assert (virsci.topic.leaving, virsci.min_size) == ("off", "all")
        assert scenario.founding.count == 1
        # The paper's measure: where ideas find the neighbours, abstracts are evaluated (C.3).
        of_abstract = (
            Novelty(evaluated="abstract", words=200) if virsci.neighbour_query == "idea" else None
        )
        assert scenario.novelty == of_abstract, "the paper's measure"
        assert virsci.abstract.self_review == "off" or name.endswith("table-7")


@pytest.mark.parametrize(
    ("number", "field", "values"),
    [
        (5, "discussion.invitation", ("off", "on")),
        (6, "novelty_assessment", ("off", "on")),
        (7, "abstract.self_review", ("off", "on")),
        (8, "discussion.speaking_order", ("round_table", "random")),
    ],
)
def test_four_tables_vary_one_switch_at_every_size_and_number_of_turns(read, number, field, values):
    design = read(f"studies/virsci/table-{number}")
    value_of = attrgetter(field)
    found = {(value_of(p), p.team_size, p.turns) for p in protocols(design).values()}
    assert found == {(v, n, k) for v in values for n in (4, 8) for k in range(1, 8)}
    by_name = protocols(design)
    assert len(design.comparisons) == 14
    for one in design.comparisons:
        reference, other = (by_name[name] for name in one.arms)
        assert (value_of(reference), value_of(other)) == values
        assert dotted(reference) | {field: values[1]} == dotted(other)


def test_table_1_sets_a_team_against_one_scientist_at_the_same_cost(read):
    arms = protocols(read("studies/virsci/table-1"))
    assert {name: p.team_size * p.turns * 4 for name, p in arms.items()} == {
        "alone": 80,
        "team": 80,
    }
    assert {p.topic.start for p in arms.values()} == {"NanoGPT"}
    assert {p.neighbour_query for p in arms.values()} == {"idea"}


def test_table_1_has_the_papers_baselines_at_its_settings(read):
    design = read("studies/virsci/table-1")
    scenarios = zip(design.arms, design.scenarios, strict=True)
    systems = {arm.name: one.protocol for arm, one in scenarios if arm.name in BASELINES}
    assert systems["hypogen"].rounds == 12
    assert systems["ai_scientist"].reflections == 50
    assert {one.early_end for one in systems.values()} == {"off"}
    assert {one.profiles for one in systems.values()} == {"off"}
    assert {one.topic.start for one in systems.values()} == {"NanoGPT"}
    planned = {(one.of, one.arms) for one in design.comparisons}
    for of in ("review.virsci.overall", "CD", "CI"):
        assert {(of, (name, "team")) for name in BASELINES} <= planned


def test_tables_3_and_4_switch_references_in_two_stages(read):
    for number in (3, 4):
        arms = protocols(read(f"studies/virsci/table-{number}")).values()
        found = [(p.references.ideas, p.references.assessment) for p in arms]
        assert sorted(found) == [("off", "off"), ("off", "on"), ("on", "off"), ("on", "on")]
        assert {(p.team_size, p.turns) for p in arms} == {(8, 5)}


def test_the_figures_vary_teams(read):
    four = {(p.team_size, p.turns) for p in protocols(read("studies/virsci/figure-4")).values()}
    assert four == {(n, k) for n in (1, 2, 4, 6, 8, 10) for k in range(1, 8)}
    nine = protocols(read("studies/virsci/figure-9"))
    assert {(p.team_size, p.turns) for p in nine.values()} == four
    five = protocols(read("studies/virsci/figure-5")).values()
    assert {p.freshness for p in five} == {0.0, 0.25, 0.5, 0.75, 1.0}
    six = protocols(read("studies/virsci/figure-6")).values()
    assert {p.diversity for p in six} == {0.25, 0.5, 0.75, 1.0}
    eight = protocols(read("studies/virsci/figure-8"))
    explores = {name: type(p.selection.explore).__name__ for name, p in eight.items()}
    assert explores == {
        "uniform, n=4": "float",
        "normal, n=4": "HalfNormal",
        "uniform, n=8": "float",
        "normal, n=8": "HalfNormal",
    }
    ten = read("studies/virsci/figure-10")
    assert ten.runs == 200, "the paper's number of abstracts"


def test_paper_against_code_has_every_departure_alone_and_all_together(read):
    design = read("studies/paper-vs-code")
    arms = protocols(design)
    paper = arms["paper"]
    ours = {
        "team_size": 4,
        "turns": 5,
        "min_size": 1,
        "min_size_after_leaving": None,
        "inviting": "one_by_one",
    }
    rest = {"max_invitations": paper.max_invitations, "memory": "off"}
    assert paper == VirSci(**ours, **rest)
    assert arms["released code"] == VirSci(profile="released-code", **ours, **rest)
    plain = dotted(paper)
    changed = {
        name: {key for key, value in dotted(p).items() if value != plain[key]}
        for name, p in arms.items()
    }
    together = changed.pop("released code")
    assert not changed.pop("paper")
    assert changed.pop("votes of the last turn") == {"assessment.votes"}
    # Without a review neither its threshold nor its number of papers would matter.
    review = changed.pop("self-review without effect")
    assert review == {"abstract.self_review", "abstract.threshold", "references.self_review"}
    # The weights of the confidence are one departure.
    assert all(len(keys) == 1 or min(keys).startswith("confidence.") for keys in changed.values())
    assert set.union(review, *changed.values()) == together - {"profile"}
    for section, value in RELEASED_CODE.items():
        if not isinstance(value, dict):
            continue
        alone = [getattr(p, section) for name, p in arms.items() if name != "released code"]
        every = {key: value for p in alone for key, value in p if value != getattr(type(p)(), key)}
        every.pop("votes", None)
        assert every == value
    for scenario in design.scenarios:
        measured = scenario.novelty
        assert (measured.squared, measured.unit, measured.k) == (True, False, 4)


def test_the_scenario_of_the_released_code_is_that_arm_of_the_study(read):
    scenario = load_scenario("virsci/released-code")
    arm = protocols(read("studies/paper-vs-code"))["released code"]
    assert scenario.protocol == arm
    assert scenario.novelty == read("studies/paper-vs-code").scenarios[0].novelty


@pytest.fixture(scope="module")
def costs(read):
    """Calls and costs of one team for each arm of Table 9, on a small ecosystem."""
    from virsci_society.metrics.cost import inference_cost
    from virsci_society.scenarios.runs.build import build_society
    from virsci_society.society.results.run import Run

    design, found = read("studies/virsci/table-9"), {}
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        small = scenario.set("population.ecosystem", {"scientists": 40, "papers": 300})
        society = build_society(small.set("seed", design.seeds(arm.name)[0]))
        society.run_to_end()
        run = Run.from_rows(society.log.rows, {"seed": 1, "days": 365.0}, {})
        found[arm.name] = (run.table("calls"), inference_cost(run).iloc[0])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("n", "cost"), [(4, 80), (8, 160)])
def test_fixed_turns_cost_what_the_paper_says(costs, n, cost):
    _, row = costs[f"pacing=fixed,team_size={n}"]
    assert row["inference_cost"] == cost
    assert [row[stage] for stage in STAGES] == [cost / 4] * 4
    assert row["extra_cost"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 8])
def test_adaptive_turns_and_the_cost_agree(costs, n):
    """As in Table 9: 4 x (2.4 + 4.5 + 3.2 + 4.2) = 57.2; turns and calls are counted apart."""
    calls, row = costs[f"pacing=adaptive,team_size={n}"]
    spoken = calls[calls["act"].isin(["utter", "vote"]) & (calls["visit"] == 1)]
    turns = spoken.groupby("stage")["turn"].nunique()
    assert row["inference_cost"] == n * sum(turns[stage] for stage in STAGES)
    assert {stage: row[stage] / row["size"] for stage in STAGES} == turns.to_dict()
    assert 1 <= turns.min() <= turns.max() <= 7
    assert turns.nunique() > 1, "the leader has decided, stage by stage"
    assert n * 4 <= row["inference_cost"] < n * 28


def test_the_released_program_of_idea2proposal_is_a_profile_over_the_text(read):
    design = read("studies/proposal-paper-vs-code")
    arms = {arm.name: one.protocol for arm, one in zip(design.arms, design.scenarios, strict=False)}
    told = [(arm.speaking, arm.profiles) for arm in arms.values()]
    code, text = ("one_a_round", "off"), ("everybody", "on")
    assert told == [text, ("one_a_round", "on"), ("everybody", "off"), code, text, code, code]
    rated = {one.of for one in design.comparisons if "released code alone" in one.arms}
    assert rated == {"review.proposal.overall", "review.proposal_told.overall"}
    assert arms["released code 5G8R"].rounds == 8


def test_the_study_of_assumed_times_moves_what_nobody_has_measured(read):
    design = read("studies/sensitivity")
    assert design.file.arms.latin_hypercube.over["time.reply_window"] == (2.0, 28.0)
    assert len(design.arms) == 30
    assert {one.until for one in design.scenarios} == {365.0}
