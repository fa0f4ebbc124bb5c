from pathlib import Path

from tests.metrics.data_dictionary import ABOUT, data_dictionary
from virsci_society.metrics.registry import METRICS
from virsci_society.society.results.dataframes import SORT_COLUMNS
from virsci_society.society.results.tables import TABLES

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_current():
    page = (DOCS / "data-dictionary.md").read_text(encoding="utf-8")
    assert page == data_dictionary(), (
        "run: python -m tests.metrics.data_dictionary > docs/data-dictionary.md"
    )


def test_every_table_and_column_is_on_the_page():
    page = data_dictionary()
    for name, columns in TABLES.items():
        assert f"## {name}\n" in page
        for column in columns:
            assert f"| `{column.name}` | {column.dtype} |" in page


def test_every_table_has_a_sentence_and_an_order():
    assert set(ABOUT) == set(TABLES) == set(SORT_COLUMNS)
    for name, order in SORT_COLUMNS.items():
        assert set(order) <= {column.name for column in TABLES[name]}


def test_every_measure_and_its_columns_are_explained(run):
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    for name, metric in METRICS.items():
        assert f"### {name}" in page, f"docs/metrics.md lacks the measure {name}"
        section = page.split(f"### {name}\n")[1].split("\n### ")[0]
        for column in metric(run).columns:
            assert f"`{column}`" in section, f"docs/metrics.md, {name}: lacks {column}"
