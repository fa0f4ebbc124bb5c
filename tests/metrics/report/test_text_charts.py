"""Bars and sparklines made of characters."""

from __future__ import annotations

import pytest

from virsci_society.metrics.report.drawing.text_charts import (
    ASCII_LEVELS,
    BLOCKS,
    bars_of,
    sparkline,
)


def test_bars_are_as_long_as_their_numbers_in_any_encoding() -> None:
    assert [len(bar) for bar in bars_of([10, 5, 0, 0.01], "utf-8", 20)] == [20, 10, 0, 1]
    assert set("".join(bars_of([2, 1], "ascii"))) == {"="}
    assert bars_of([], "utf-8") == []
    assert bars_of([0, 0], "utf-8") == ["", ""]


def test_a_sparkline_is_as_high_as_its_values() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], "utf-8") == BLOCKS
    assert sparkline([0, 0.001, 7], "utf-8") == "▁▂█", "something is told from nothing"
    assert sparkline([None, 0, 5], "utf-8") == " ▁█"
    assert sparkline([], "utf-8") == ""
    assert sparkline([0, 0], "utf-8") == "▁▁"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "no-such-encoding", None])
def test_without_blocks_a_sparkline_is_ascii(encoding: str | None) -> None:
    line = sparkline(range(8), encoding)
    assert line == ASCII_LEVELS
    assert line.isascii()


def test_neighbours_are_averaged_where_columns_are_few() -> None:
    assert sparkline([0, 0, 7, 7, 0, 7], "utf-8", 3) == "▁█▅"
    assert sparkline([None, None, 3, None], "utf-8", 2) == " █"
    assert len(sparkline(range(1000), "utf-8", 36)) == 36
