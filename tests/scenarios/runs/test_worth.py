"""What a person or a pair is worth, by forks that leave them out (docs/life.md)."""

import pytest

from virsci_society import load_scenario
from virsci_society.agents.errors import InputError
from virsci_society.metrics.networks.removals import around_stars
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.scenarios.runs.fork import Fork
from virsci_society.society.results.digest import digest_content, digest_tables
from virsci_society.society.results.run import Run

TOOK_PART = {"members": "scientist", "invitations": "invitee", "authorships": "scientist"}


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    """A year of a wordless society."""
    folder = tmp_path_factory.mktemp("worth") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("virsci_society.metrics.report.page.write_page", lambda *_: None)
        return run_scenario(load_scenario("community/assembly", until="1y", metrics=[]), folder)


@pytest.fixture
def without(parent, tmp_path, monkeypatch):
    """A function that runs the fork of day 180 without some scientists."""
    monkeypatch.setattr("virsci_society.metrics.report.page.write_page", lambda *_: None)

    def run(*names):
        folder = tmp_path / "-".join(names)
        Fork.of(parent, "180d", (), ",".join(names)).run(folder)
        return Run.open(folder)

    return run


def people(parent):
    run = Run.open(parent)
    took_part = {who for name, column in TOOK_PART.items() for who in run.table(name)[column]}
    everybody = run.table("scientists")["scientist"].tolist()
    return run, [who for who in everybody if who not in took_part]


@pytest.mark.slow
def test_somebody_isolated_who_is_removed_changes_nothing_bit_for_bit(parent, without):
    run, isolated = people(parent)
    assert len(isolated) > 100
    fork = without(isolated[0])
    tables = [digest_content(one.tables()) for one in (run, fork)]
    differing = {
        name
        for name in {*tables[0], *tables[1]}
        if len({digest_tables({name: one[name]}) if name in one else None for one in tables}) > 1
    }
    assert differing == {"careers", "interventions"}, "that it left, and nothing else"
    assert fork.table("interventions")[["ranked", "removed"]].values.tolist() == [["name", 1]]


@pytest.mark.slow
def test_a_person_and_a_pair_have_a_value(parent, without):
    run, _ = people(parent)
    later = run.table("papers")
    later = later[later["published"] > 180]
    by = run.table("authorships")
    by = by[by["paper"].isin(later["paper"])]
    pair = by.groupby("paper")["scientist"].apply(list).loc[lambda one: one.map(len) >= 2].iloc[0]
    one, other = sorted(pair)[:2]
    ours = [set(by.loc[by["scientist"] == who, "paper"]) for who in (one, other)]
    assert ours[0] & ours[1]
    papers = [run, without(one), without(other), without(one, other)]
    gone = papers[3].table("careers")
    gone = gone[gone["change"] == "removed"]
    assert sorted(gone["scientist"]) == [one, other]
    assert set(gone["date"]) == {180.0}
    for fork, absent in zip(papers[1:], ([one], [other], [one, other]), strict=True):
        table = fork.table("members")
        assert not table["scientist"][table["joined"] > 180].isin(absent).any()
        assert not fork.table("teams").equals(run.table("teams"))
    # Who are stars is settled before the removal, so that the counts of both can be compared.
    before = ["date", "stars", "collaborators"]
    short = [around_stars(one).iloc[0] for one in papers[:2]]
    assert short[1]["date"] == 180.0
    assert short[0][before[1]] == short[1][before[1]] == 10


@pytest.mark.slow
def test_who_is_not_there_cannot_be_removed(tmp_path):
    month = load_scenario("quickstart", until="30d", metrics=[])
    parent = run_scenario(month, tmp_path / "parent")
    with pytest.raises(InputError, match="nobody called 'Scientist99999' is in the society on day"):
        Fork.of(parent, "15d", (), "Scientist99999").run(tmp_path / "x")
    with pytest.raises(InputError, match="rank:number, such as degree:10, or as names"):
        Fork.of(parent, "15d", (), "Scientist1,")
