from pathlib import Path

from tests.metrics.data_dictionary import ABOUT, data_dictionary
from virsci_society.metrics.registry import METRICS, empty_metric
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


def test_every_metric_and_its_columns_are_explained():
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    explained = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    for name in METRICS:
        for column in empty_metric(name).columns:
            assert f"`{column}`" in explained[name], f"docs/metrics.md, {name}: lacks {column}"
