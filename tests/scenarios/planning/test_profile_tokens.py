"""The table of tokens by page and profile, and its copy in the documentation."""

from pathlib import Path

import pytest

from benchmarks.profile_tokens import PAGES, table, tokens_by_page
from virsci_society.scenarios.planning.prompt_recording import TokenCounts

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_one_row_for_each_page_of_any_profile():
    ballot = TokenCounts(calls=20, prompt=25_812, reply=660)
    lines = table({"paper": {"ballot": ballot, "all": ballot}, "full": {"critique": ballot}})
    heads, rule, *rows = lines.splitlines()
    assert heads.startswith("| page | paper: calls | paper: prompt | paper: reply | full: calls |")
    assert rule.count("---") == 7
    assert rows[0] == f"| [`ballot`]({PAGES}/ballot.txt) | 20 | 25,812 | 660 |  |  |  |"
    assert [row.split("`")[1] for row in rows[:2]] == ["ballot", "critique"]
    assert rows[2] == "| all | 20 | 25,812 | 660 |  |  |  |"
    assert (DOCS / PAGES / "ballot.txt").is_file()


@pytest.mark.slow
def test_pages_add_up():
    counts = tokens_by_page("paper", range(1, 2))
    whole = counts.pop("all")
    assert whole.prompt == sum(one.prompt for one in counts.values())
    assert (whole.calls, counts["ballot"].calls) == (sum(c.calls for c in counts.values()), 20)
