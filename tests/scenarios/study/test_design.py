"""Study files: what is read from them, and every way in which one can be wrong."""

from pathlib import Path

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.study.design import read_study, sample_arms, scale_to_bounds
from virsci_society.scenarios.study.lock import make_lock, open_folder
from virsci_society.scenarios.study.plan import comparisons_in
from virsci_society.scenarios.study.study_file import (
    SampledDesign,
    about_of,
    default_study_folder,
    find_study,
    name_of_study,
)

TINY = """\
# Does size matter? A study for tests.
study: Tiny
base: virsci/paper
set: {until: 100d, population.ecosystem: {scientists: 12, papers: 60}}
arms: {grid: {protocol.team_size: [2, 3], protocol.turns: [1, 2]}}
replicates: 3
measures: [ON, papers]
comparisons: [{test: paired, of: ON}]
"""


@pytest.fixture
def written(tmp_path):
    """A function that writes a study file and returns its path."""

    def write(text, name="tiny.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def faults(path, *settings):
    with pytest.raises(InputError) as caught:
        read_study(path, settings)
    return str(caught.value).splitlines()


def test_a_grid_has_an_arm_for_every_combination(written):
    design = read_study(written(TINY))
    assert [arm.name for arm in design.arms] == [
        "team_size=2,turns=1",
        "team_size=2,turns=2",
        "team_size=3,turns=1",
        "team_size=3,turns=2",
    ]
    assert [(s.protocol.team_size, s.protocol.turns) for s in design.scenarios] == [
        (2, 1),
        (2, 2),
        (3, 1),
        (3, 2),
    ]
    assert {s.until for s in design.scenarios} == {100.0}
    assert design.scenarios[0].population.ecosystem.scientists == 12
    assert design.runs == 12
    assert design.keys == ["protocol.team_size", "protocol.turns"]


def test_seeds_are_paired_across_arms_unless_told_otherwise(written):
    paired = read_study(written(TINY))
    first, *others = [paired.seeds(arm.name) for arm in paired.arms]
    assert all(seeds == first for seeds in others)
    assert len(set(first)) == 3
    assert all(0 <= seed < 2**40 for seed in first)
    free = read_study(written(TINY), ["paired=false"])
    assert len({seed for arm in free.arms for seed in free.seeds(arm.name)}) == 12
    assert read_study(written(TINY), ["seed=2"]).seeds("any") != first
    longer = read_study(written(TINY), ["replicates=5"])
    assert longer.seeds("any")[:3] == first


def test_settings_change_the_study_or_its_base(written):
    design = read_study(written(TINY), ["replicates=7", "until=50d", "protocol.memory=own"])
    assert design.file.replicates == 7
    assert {s.until for s in design.scenarios} == {50.0}
    assert {s.protocol.memory for s in design.scenarios} == {"own"}


def test_all_complaints_come_at_once_with_line_and_column(written):
    path = written(
        "study: bad\n"
        "base: virsci/paper\n"
        "set: {protocol.trns: 2}\n"
        "arms:\n"
        "  grid:\n"
        "    protocol.team_size: [2, x]\n"
        "    protocol.turn: [1]\n"
        "replicate: 3\n"
        "measures: [ON, HDD]\n"
        "comparisons:\n"
        "  - {test: paird, of: ON}\n"
        "  - {test: inverted_u, of: CD, ovr: x}\n"
    ).as_posix()
    found = faults(path)

    def line(place):
        hits = [one for one in found if f"tiny.yaml:{place}: " in one]
        assert hits, (place, found)
        return hits[0]

    assert "unknown key" in line("3:7")
    assert "did you mean 'turns'" in line("3:7")
    assert "got 'x'" in line("6:29")
    assert "did you mean 'turns'" in line("7:21")
    assert "did you mean 'replicates'" in line("8:1")
    assert "no measure is called 'HDD'" in line("9:16")
    assert "did you mean 'paired'" in line("11:6")
    assert "'CD' is not a measure of this study" in line("12:24")
    assert "did you mean 'over'" in line("12:32")
    numbers = [int(one.split(":")[1]) for one in found]
    assert numbers == sorted(numbers)


def test_arms_may_be_a_plain_mapping_of_names_to_keys(written):
    grid = "{grid: {protocol.team_size: [2, 3], protocol.turns: [1, 2]}}"
    text = TINY.replace(grid, "\n  plain:\n  big:\n    protocol: {team_size: 5}\n    turnz: 3")
    (only,) = faults(written(text))
    assert "tiny.yaml:9:5: turnz: unknown key" in only
    design = read_study(written(text.replace("turnz", "protocol.turns")))
    assert [arm.name for arm in design.arms] == ["plain", "big"]
    assert design.arms[1].settings == {"protocol.team_size": 5, "protocol.turns": 3}
    assert [one.protocol.team_size for one in design.scenarios] == [4, 5]
    # A kind of arms that is spelt wrong is no arm of that name.
    wrong = faults(written(TINY.replace("{grid:", "{gird:")))
    assert any("did you mean 'grid'" in one for one in wrong)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "{grid: {protocol.team_size: [2, 3], protocol.turns: [1, 2]}}",
            "{}",
            "got nothing, expected grid",
        ),
        ("protocol.turns: [1, 2]", "protocol.turns: []", "grid has a key without values"),
        ("base: virsci/paper", "base: virsci/papr", "no scenario 'virsci/papr'"),
        ("test: paired, of: ON", "test: paired, of: ON, over: x", "is not a varied key"),
        ("of: ON}", "of: ON, over: x, arms: [a, b]}", "needs one of them"),
        ("of: ON}", "of: ON, arms: [nobody, else]}", "'nobody' is not an arm"),
        ("of: ON}", "of: ON, arms: ['team_size=2,turns=1']}", "fewer than two"),
        ("test: paired", "test: inverted_u, over: protocol.min_size", "is not a varied key"),
        ("test: paired, of: ON", "test: correlation, of: ON", "give against"),
        ("test: paired, of: ON", "test: paired, of: ON, against: papers", "does not use it"),
        (
            "test: paired, of: ON",
            "test: correlation, of: ON, against: paprs",
            "did you mean 'papers'",
        ),
        (
            "test: paired, of: ON",
            "test: correlation, of: ON, against: review.novelty.overall",
            "is not a score of a review",
        ),
        ("test: paired, of: ON", "test: paired, of: review.novlty.novelty", "is not a score of a"),
        ("measures: [", "measures: [review.novelty.novelty, ", "is given by reviewers when the"),
        ("until: 100d", "seed: 3", "the study decides it"),
        ("replicates: 3", "replicates: 0", "at least 1"),
        ("[2, 3], protocol", "[2, 2], protocol", "two arms are called"),
    ],
)
def test_what_makes_no_sense_is_refused(written, old, new, told):
    assert old in TINY
    assert any(told in line for line in faults(written(TINY.replace(old, new))))


def test_arms_that_differ_in_another_key_too_are_no_pair(written):
    text = TINY.replace("{test: paired, of: ON}", "{test: paired, of: ON, over: protocol.turns}")
    arms = "{grid: {protocol.team_size: [2, 3], protocol.turns: [1, 2]}}"
    alone = "{a: {protocol.turns: 1}, b: {protocol.team_size: 2}}"
    assert any("no two arms differ" in one for one in faults(written(text.replace(arms, alone))))


def test_paired_tests_over_a_key_are_those_that_can_be_written_out(written):
    text = TINY.replace("{test: paired, of: ON}", "{test: paired, of: ON, over: protocol.turns}")
    assert [one.arms for one in read_study(written(text)).comparisons if one.arms] == [
        ("team_size=2,turns=1", "team_size=2,turns=2"),
        ("team_size=3,turns=1", "team_size=3,turns=2"),
    ]


def test_a_column_of_a_metric_that_is_not_trusted_is_no_second_fault(written):
    text = TINY.replace("set: {", "set: {metrics: [mine:brokers], ")
    (line,) = faults(written(text.replace("measures: [ON", "measures: [brokers.score.mean, ON")))
    assert "review it, then add --trust" in line


def test_the_plan_counts_every_test_of_holms_correction(written):
    text = TINY.replace("ON}]", "ON}, {test: correlation, of: ON, against: papers}]")
    assert comparisons_in(read_study(written(text))) == 3 + 2


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("protocol.team_size=4", "--set protocol.team_size: changes the base, but arm small sets"),
        ("protocol.topic.one_of=[maps]", "but arms small, other set protocol.topic.one_of; "),
        ("protocol.memory=own", "but arm other sets protocol.use; change it in the study's file"),
        ("protocol.trns=3", "--set protocol.trns: unknown key"),
    ],
)
def test_a_setting_that_arms_would_hide_is_refused_with_their_names(written, setting, fault):
    path = written("""\
study: Two systems
base: virsci/paper
arms:
  small: {protocol: {team_size: 3, topic: {one_of: neutral}}}
  other: {protocol: {use: idea2proposal, topic: {one_of: neutral}}}
  plain: {}
replicates: 1
measures: [ON]
""")
    with pytest.raises(InputError, match=fault):
        read_study(path, [setting])
    assert len(read_study(path, ["backend.in_flight=4", "replicates=2"]).scenarios) == 3


def test_a_study_is_found_by_name_path_or_folder(tmp_path, written, monkeypatch):
    path = written(TINY)
    open_folder(read_study(path), tmp_path / "runs/studies/small")
    monkeypatch.chdir(tmp_path)
    kept = find_study("small")
    assert kept.resolve() == tmp_path / "runs/studies/small/study.yaml"
    assert (default_study_folder(kept), name_of_study(kept)) == (kept.parent, "small")
    # A user's own file of that name is no folder of a study.
    path = written(TINY, "study.yaml")
    assert default_study_folder(path) == Path("runs/studies/study")
    assert name_of_study(path) == "study"
    assert find_study("team-size") == find_study("studies/team-size")
    assert find_study(tmp_path) == path
    assert find_study(path) == path
    with pytest.raises(InputError, match="did you mean 'studies/team-size'"):
        find_study("studies/team-siz")
    with pytest.raises(InputError, match="no such file"):
        find_study(tmp_path / "other.yaml")
    scenario = written("extends: quickstart\n", "mine.yaml")
    for name in ("quickstart", scenario):
        with pytest.raises(InputError, match=f"{name}: is a scenario.*study new NAME --base"):
            find_study(name)


def test_the_question_of_a_study_ends_with_its_sentence_and_not_behind_et_al(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("# Do the arms of Chen et al. 2025\n# differ? They are seven.\nstudy: s\n")
    assert about_of(path) == "Do the arms of Chen et al. 2025 differ?"


def test_a_hypercube_covers_every_stratum_of_every_key_once():
    sampled = SampledDesign(samples=10, over={"a": (0.5, 3.0), "b": (2, 8), "c": (0.0, 10.0)})
    arms = sample_arms(sampled, 1)
    assert sorted(int(4 * (arm["a"] - 0.5)) for arm in arms) == list(range(10))
    assert sorted(int(arm["c"]) for arm in arms) == list(range(10))
    assert all(isinstance(arm["b"], int) and 2 <= arm["b"] <= 8 for arm in arms)
    assert all(isinstance(arm["a"], float) and 0.5 <= arm["a"] <= 3.0 for arm in arms)
    assert sample_arms(sampled, 1) == arms
    assert sample_arms(sampled, 2) != arms


def test_whole_numbers_come_equally_often():
    places = (0.0, 0.33, 0.34, 0.66, 0.67, 1.0)
    assert [scale_to_bounds(at, (2, 4)) for at in places] == [2, 2, 3, 3, 4, 4]
    assert scale_to_bounds(0.5, (1.0, 2.0)) == 1.5


def test_durations_are_sampled_as_numbers_of_days(written):
    text = TINY.replace(
        "grid: {protocol.team_size: [2, 3], protocol.turns: [1, 2]}",
        "latin_hypercube: {samples: 4, over: {time.publication_delay: [12h, 8w]}}",
    )
    design = read_study(written(text))
    assert design.file.arms.latin_hypercube.over == {"time.publication_delay": (0.5, 56.0)}
    assert [arm.name for arm in design.arms] == ["point=0", "point=1", "point=2", "point=3"]
    delays = sorted(scenario.time.publication_delay for scenario in design.scenarios)
    assert [int((delay - 0.5) / 13.875) for delay in delays] == [0, 1, 2, 3]
    assert "'soon' is not a duration" in faults(written(text.replace("8w", "soon")))[0]


def test_relative_paths_stand_for_files_beside_the_study(tmp_path, written):
    (tmp_path / "own.yaml").write_text("extends: virsci/paper\nseed: 5\n", encoding="utf-8")
    design = read_study(written(TINY.replace("virsci/paper", "own.yaml")))
    assert design.base.name == "own"
    assert Path(design.path).parent == tmp_path


CROSSED = TINY + "crossed:\n  protocol.topic.given: [tides, soils, moss]\n"


def test_crossed_values_go_round_over_the_replicates(written, tmp_path):
    from virsci_society.scenarios.study.study_file import crossed_settings

    design = read_study(written(CROSSED))
    assert {s.protocol.topic.given for s in design.scenarios} == {"tides"}
    assert make_lock(design, "run").data["crossed"] == {
        "protocol.topic.given": ["tides", "soils", "moss"]
    }
    both = {"a": ["x", "y"], "b": [1, 2]}
    found = [tuple(crossed_settings(both, one).values()) for one in range(5)]
    assert found == [("x", 1), ("y", 1), ("x", 2), ("y", 2), ("x", 1)]
    assert crossed_settings({}, 3) == {}


@pytest.mark.parametrize(
    ("old", "new", "settings", "told"),
    [
        ("[tides, soils, moss]", "[tides, 3]", (), "3:"),
        ("[tides, soils, moss]", "[tides]", (), "at least 2"),
        ("topic.given", "topic.givn", (), "did you mean 'given'"),
        ("protocol.topic.given", "protocol.turns", (), "sets it itself"),
        ("", "", ("protocol.topic.given=ice",), "the study crosses protocol.topic.given"),
    ],
)
def test_what_cannot_be_crossed_is_refused_with_its_line(written, old, new, settings, told):
    with pytest.raises(InputError) as caught:
        read_study(written(CROSSED.replace(old, new)), settings)
    assert told in str(caught.value)


SCATTER = (
    "figures: [{title: Cost, of: [ON, review.virsci.overall], against: [papers], "
    "mark: {protocol.turns: 2}}]\n"
)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("of: [ON", "of: [NO", "'NO' is not a measure of this study"),
        ("virsci.overall", "virsci.overal", "did you mean 'review.virsci.overall'"),
        ("[papers]", "[calls]", "'calls' is not a measure of this study"),
        ("protocol.turns", "protocol.turn", "did you mean 'protocol.turns'"),
        ("mark", "marks", "did you mean 'mark'"),
    ],
)
def test_a_figure_of_outcomes_names_what_the_study_has(written, old, new, told):
    (figure,) = read_study(written(TINY + SCATTER)).file.figures
    assert figure.mark == {"protocol.turns": 2}
    found = faults(written(TINY + SCATTER.replace(old, new)).as_posix())
    assert len(found) == 1, found
    assert "tiny.yaml:9:" in found[0]
    assert told in found[0]


def test_labels_are_words_alone_and_stand_outside_the_lock(written):
    labels = "labels: {'team_size=2,turns=1': in pairs, papers: papers written}\n"
    told, plain = read_study(written(TINY + labels)), read_study(written(TINY, "plain.yaml"))
    assert told.file.labels == {"team_size=2,turns=1": "in pairs", "papers": "papers written"}
    assert make_lock(told, "run").data == make_lock(plain, "run").data
    [fault] = faults(written(TINY + "labels: {paper: articles}\n"))
    assert "labels.paper: 'paper' is not an arm or measure" in fault
    assert "did you mean 'papers'" in fault
