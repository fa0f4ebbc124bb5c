from virsci_society.metrics.networks.degree_tails import degrees, tail


def test_degrees_by_hand(run):
    """Since day 0 four people are tied to three others each."""
    table = degrees(run).set_index(["network", "degree"])
    assert table.loc[("grown", 3)].tolist() == [4, 1.0]
    # With day 0: S1 has S2, S3, S4 and S5; S2, S3, S4 three; S5 S1 and S6; S6 S5.
    every = table.loc["all"]
    assert every["scientists"].to_dict() == {1: 1, 2: 1, 3: 3, 4: 1}
    assert every["share_above"].tolist() == [1, 5 / 6, 4 / 6, 1 / 6]


def test_few_values_are_undecided(run, empty_run):
    for one in (run, empty_run):
        table = tail(one).set_index("of")
        assert table["verdict"].str.startswith("undecided").all()
    assert tail(run).set_index("of").loc["papers per scientist", "n"] == 4
