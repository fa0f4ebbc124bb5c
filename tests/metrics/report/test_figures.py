import re

import numpy as np
import pandas as pd
import pytest

from metrics.exports import coauthor_graph
from metrics.networks.structure import structure
from metrics.novelty.novelty import run_novelty
from metrics.report import figures, svg
from metrics.report.network_figures import coauthorship_figure
from metrics.report.network_layout import lay_out
from metrics.teams.concurrency import acceptance, waiting, weekly

pytestmark = pytest.mark.usefixtures("drawn")


def scores(count, name="ON"):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({part: rng.lognormal(size=count) for part in ("HD", "CD", "CI", "ON")})
    return table.astype("Float64")


def dots(picture):
    """Markers drawn in a figure."""
    return len(re.findall(r"<use ", picture))


def test_a_figure_is_one_svg_without_anything_that_loads():
    with svg.figure("test", 2, 1) as plot:
        plot.subplots().plot([0, 1], [0, 1], color=svg.BLUE)
        picture = svg.inline_svg(plot, 'a "label" <b>')
    assert picture.startswith("<svg viewBox=")
    assert picture.endswith("</svg>")
    assert 'aria-label="a &quot;label&quot; &lt;b&gt;"' in picture
    for word in ("http", "<?xml", "<!DOCTYPE", "<metadata", "xlink", "xmlns", "<style", "<!--"):
        assert word not in picture, word
    assert "var(--blue)" in picture
    assert not re.search(r'<g id="', picture)


def test_two_figures_share_no_id():
    pictures = []
    for name in ("one", "two"):
        with svg.figure(name, 2, 1) as plot:
            plot.subplots().plot([0, 1], [0, 1], "o", color=svg.BLUE)
            pictures.append(svg.inline_svg(plot, name))
    first, second = (set(re.findall(r' id="([^"]+)"', picture)) for picture in pictures)
    assert first
    assert not first & second


def test_a_figure_is_the_same_every_time():
    assert figures.novelty(scores(9)) == figures.novelty(scores(9))


def test_text_is_never_read_as_mathematics():
    with svg.figure("math", 2, 1) as plot:
        plot.subplots().set_title("costs $5 to $x^{2$")
        assert "costs $5 to $x^{2$" in svg.inline_svg(plot, "x")


def test_every_stand_in_is_replaced(run):
    weeks = weekly(run)
    pictures = [
        figures.novelty(run_novelty(run)),
        *figures.structure(structure(run)),
        figures.teams_in_flight(weeks),
        figures.memberships(weeks),
        figures.contacts(weeks),
        figures.waiting(waiting(run)),
        figures.acceptance(acceptance(run)),
    ]
    part = lay_out(coauthor_graph(run))
    pictures += [coauthorship_figure(part, np.ones(6, dtype=bool), late) for late in (False, True)]
    for drawing_of in pictures:
        assert not re.search(r"#0[1-9]0[1-9]0[1-9]", drawing_of)
        colours = set(re.findall(r"#[0-9a-f]{6}", drawing_of))
        assert not colours, colours


def test_without_data_there_is_no_figure(empty_run):
    weeks = weekly(empty_run)
    assert figures.novelty(run_novelty(empty_run)) is None
    assert figures.structure(structure(empty_run)) == []
    assert figures.teams_in_flight(weeks) is None
    assert figures.memberships(weeks) is None
    assert figures.contacts(weeks) is None
    assert figures.waiting(waiting(empty_run)) is None
    assert figures.acceptance(acceptance(empty_run)) is None


@pytest.mark.parametrize("count", [1, 2, 30])
def test_every_paper_is_a_dot(count):
    assert dots(figures.novelty(scores(count))) >= 4 * count


def test_a_crowd_of_papers_is_thinned():
    picture = figures.novelty(scores(5000))
    assert len(picture) < 700_000
    assert dots(picture) < 4 * (figures.MAX_DOTS + 40)


def test_equal_values_stay_apart_in_height():
    with svg.figure("same", 2, 1):
        heights = figures._dot_heights(np.ones(20))
    assert len(np.unique(np.round(heights, 3))) == 20
    assert heights.min() >= -0.4
    assert heights.max() <= 0.8


def test_a_part_that_is_not_available_says_so():
    table = scores(5)
    table[["CI", "ON"]] = pd.NA
    picture = figures.novelty(table.astype("Float64"))
    assert picture.count("not available: no citation count is known") == 2


def test_raw_distances_have_no_mark_at_one():
    assert "neighbours’ year" in figures.novelty(scores(5))
    assert "neighbours’ year" not in figures.novelty(scores(5), relative=False)


def test_short_waits_are_told_in_hours(run):
    table = waiting(run)
    assert "Days of waiting" in figures.waiting(table)
    table[["held_up", "homework_queue"]] = 0.01
    assert "Hours of waiting" in figures.waiting(table)


def test_the_interval_of_a_crowd_is_students():
    values = np.random.default_rng(1).normal(size=3000)
    band = figures.mean_interval(values)
    half = 1.96 * values.std(ddof=1) / np.sqrt(3000)
    assert band.high - band.value == pytest.approx(half, rel=1e-3)
