import re

import numpy as np
import pandas as pd
import pytest

from virsci_society.metrics.novelty.novelty import run_novelty
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.drawing import svg
from virsci_society.metrics.report.drawing.axes import LegendEntry, Scale
from virsci_society.metrics.report.figures import run_figures


def scores(count, name="ON"):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({part: rng.lognormal(size=count) for part in ("HD", "CD", "CI", "ON")})
    return table.astype("Float64")


def dots(picture):
    """Markers drawn in a figure."""
    return len(re.findall(r"<circle ", picture))


def test_a_figure_is_one_svg_without_anything_that_loads():
    plot = svg.Plot(2, 1)
    plot.axes().line([0, 1], [0, 1], svg.BLUE)
    picture = plot.svg('a "label" <b>')
    assert picture.startswith('<svg viewBox="0 0 144 72" role="img"')
    assert picture.endswith("</svg>")
    assert 'aria-label="a &quot;label&quot; &lt;b&gt;"' in picture
    for word in ("http", "<?xml", "<!DOCTYPE", "href", "xmlns", "<style", "<!--", " id="):
        assert word not in picture, word
    assert "var(--blue)" in picture


def test_every_text_of_a_figure_is_escaped():
    plot = svg.Plot(2, 1)
    axes = plot.axes()
    axes.title, axes.x.label = "<script>", "a & b"
    axes.y.ticks, axes.y.labels = [0], ["<i>"]
    axes.text(0, 0, "<b>")
    axes.legend([LegendEntry("<u>", svg.BLUE)])
    plot.legend([LegendEntry("<s>", svg.BLUE)])
    picture = plot.svg("x")
    for text in ("&lt;script&gt;", "a &amp; b", "&lt;i&gt;", "&lt;b&gt;", "&lt;u&gt;", "&lt;s&gt;"):
        assert text in picture


def test_marks_lie_inside_the_axes_and_higher_values_higher():
    plot = svg.Plot(3, 2)
    plot.axes().dots([0, 5, 10], [1, 2, 4], svg.BLUE)
    points = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', plot.svg("x"))
    across, down = np.array(points, dtype=float).T
    assert 0 < across[0] < across[1] < across[2] < 3 * 72
    assert 2 * 72 > down[0] > down[1] > down[2] > 0
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.11)


def test_ticks_are_round_numbers_within_the_range():
    for high, texts in ((1, "0.0 0.2 0.4 0.6 0.8 1.0"), (380, "0 100 200 300")):
        scale = Scale()
        scale.low, scale.high, scale.most = 0, high, 5
        assert " ".join(text for _, text in scale.marks(100, 1)) == texts


def test_a_line_is_broken_where_a_value_is_missing():
    plot = svg.Plot(2, 1)
    plot.axes().line([0, 1, 2, 3], [1, np.nan, 2, 3], svg.PINK)
    [path] = re.findall(r'stroke="var\(--pink\)"[^>]* d="([^"]+)"', plot.svg("x"))
    assert re.sub(r"[^ML]", "", path) == "MML"
    assert "nan" not in path


def test_every_colour_follows_the_theme(run):
    run.add_metric("novelty", run_novelty(run))
    drawn = run_figures(run)
    assert {"teams", "network", "network-over-time", "novelty", "giant-share"} <= set(drawn)
    for picture in drawn.values():
        assert not re.findall(r"#[0-9a-f]{3,6}", picture)
        colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', picture))
        assert all(one == "none" or one.startswith("var(--") for one in colours), colours


def test_lines_of_one_figure_differ_in_more_than_colour(run):
    picture = run_figures(run)["giant-share"]
    lines = re.findall(
        r'<path fill="none" stroke="(var[^"]+)" stroke-width="1.6"([^>]*) d=', picture
    )
    assert len({style for _, style in lines}) == len({colour for colour, _ in lines}) > 1


def test_each_team_is_a_row_with_its_meetings_and_paper(run, monkeypatch):
    words = re.findall(r"<text[^>]*>([^<]*)</text>", figures.team_timeline(run))
    assert set(run.table("teams")["team"]) <= set(words)
    stages = set(run.table("meetings")["stage"].dropna())
    assert {f"meeting: {stage}" for stage in stages} <= set(words)
    assert {"at work", "waiting", "paper published"} <= set(words)
    # Of a large run some are drawn, the first and the last included.
    monkeypatch.setattr(figures, "ROWS_DRAWN", 2)
    some = set(re.findall(r"<text[^>]*>([^<]*)</text>", figures.team_timeline(run)))
    first, middle, last = run.table("teams").sort_values("founded")["team"]
    assert {first, last} <= some
    assert middle not in some


def test_without_data_there_is_no_figure(empty_run):
    assert run_figures(empty_run) == {}


@pytest.mark.parametrize("count", [1, 2, 30])
def test_every_paper_is_a_dot(count):
    assert dots(figures.novelty(scores(count))) >= 4 * count


def test_a_crowd_of_papers_is_thinned():
    picture = figures.novelty(scores(5000))
    assert len(picture) < 700_000
    assert dots(picture) < 4 * (figures.MAX_DOTS + 40)


def test_a_part_that_is_not_available_says_so():
    table = scores(5)
    table[["CI", "ON"]] = pd.NA
    picture = figures.novelty(table.astype("Float64"))
    assert picture.count("not available: citation counts are unknown") == 2


def test_the_figure_of_novelty_names_the_embedding(run):
    run.manifest["embedding"] = {"title": "MiniLM", "label": "MiniLM, 384 dimensions"}
    run.add_metric("novelty", run_novelty(run))
    assert "vectors by MiniLM" in run_figures(run)["novelty"]
