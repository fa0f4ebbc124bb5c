from virsci_society.metrics.impact import impact, standing


def society(papers, citations, days=100.0, writers=None):
    """Rows of papers (name, date), of citations between them, and of who wrote them."""
    dates = dict(papers)
    cites = [(a, b, dates[a], b in dates) for a, b in citations]
    by = [
        (name, who, n) for name, _ in papers for n, who in enumerate((writers or {}).get(name, ()))
    ]
    return {
        "papers": [(name, name, name, "", date, None, "") for name, date in papers],
        "citations": cites,
        "authorships": by,
    }


def test_citations_of_papers_by_hand(make_run):
    rows = society(
        [("A", 10.0), ("B", 20.0), ("C", 30.0)],
        [("A", "P1"), ("B", "A"), ("C", "A"), ("C", "B"), ("C", "P1"), ("C", "P2")],
        writers={"A": "xy", "B": "y", "C": "z"},
    )
    table = impact(make_run(rows)).set_index("paper")
    assert table["cited"].to_dict() == {"A": 2, "B": 1, "C": 0}
    assert table.loc["A", "first_cited"] == 10.0
    assert table["first_cited"].isna().tolist() == [False, False, True]


def test_a_paper_that_cites_another_twice_cites_it_once(make_run):
    rows = society([("A", 1.0), ("B", 2.0)], [("B", "A"), ("B", "A")])
    assert impact(make_run(rows))["cited"].tolist() == [1, 0]


def test_h_of_the_society_by_hand(make_run):
    """x wrote A and B, cited three times and twice: h = 2."""
    papers = [("A", 1.0), ("B", 2.0), *[(f"C{n}", 10.0 + n) for n in range(3)]]
    cites = [("C0", "A"), ("C1", "A"), ("C2", "A"), ("C0", "B"), ("C1", "B"), ("B", "P9")]
    rows = society(papers, cites, writers={"A": "xy", "B": "x", "C0": "y"})
    table = standing(make_run(rows)).set_index("scientist")
    assert table.loc["x"].tolist() == [2, 5, 2]
    assert table.loc["y"].tolist() == [2, 3, 1]
