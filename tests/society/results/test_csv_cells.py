"""Cells of CSV files: no formula in any locale, no control character, and prose left alone."""

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virsci_society.society.results.table_files import safe_cell, write_csv

SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "＝1", "－1"])
def test_no_cell_begins_as_a_formula(text):
    assert safe_cell(text).startswith("'")
    assert safe_cell(f"a {text.strip()}") == f"a {text.strip()}"


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("before", [";", "; ", "\n", "\r\n", "\t"])
def test_nor_does_one_that_another_separator_makes(sign, before):
    assert safe_cell(f"a{before}{sign}1") == f"a{before}'{sign}1"


@pytest.mark.parametrize("text", ["well-known; a+b = c @ d", "p < 0.05 (r = -0.3)", "é\u00a0—", ""])
def test_prose_stays_as_it_is(text):
    assert safe_cell(text) == text


def test_control_characters_are_replaced():
    assert safe_cell("a\x1b[31m\x9b\x00\u202eb") == "a\ufffd[31m\ufffd\ufffd\ufffdb"


@given(st.lists(st.text(st.sampled_from("a;,'\"\t\n\r =+-@＝\x1b"), max_size=12), min_size=1))
def test_no_locale_finds_a_formula(texts):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow(["R1", *map(safe_cell, texts)])
    for separator in ",;\t":
        rows = csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=separator)
        cells = [cell for row in rows for cell in row]
        assert not [cell for cell in cells if cell.lstrip(" ").startswith(SIGNS)]


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_texts_and_headings_of_every_table_are_safe_and_numbers_stay(tmp_path, dtype):
    told = pd.DataFrame({"=arm": pd.Series(["-1+1", "plain"], dtype=dtype), "n": [-1.5, 2]})
    write_csv(tmp_path, {"told": told})
    assert (tmp_path / "told.csv").read_text() == "'=arm,n\n'-1+1,-1.5\nplain,2.0\n"
    assert told.iloc[0, 0] == "-1+1"


def test_no_other_module_writes_csv_past_these_cells():
    root = Path(__file__).parents[3]
    writers = {
        path.relative_to(root).as_posix()
        for package in ("agents", "society", "protocols", "metrics", "scenarios")
        for path in (root / package).rglob("*.py")
        if re.search(r"to_csv\(\s*path|csv\.writer|DictWriter", path.read_text("utf-8"))
    }
    # The sheets of reviewers have a dialect of their own, and cells by ``safe_cell``.
    assert writers == {"scenarios/review/sheets.py", "society/results/table_files.py"}
