import base64
import re
import shutil
import subprocess

import numpy as np
import pytest

from tests.browser import CHROMIUM, Browser
from tests.metrics.html_page import Page, assert_inert
from virsci_society.metrics.inference.intervals import Interval, bca_interval, t_interval
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.figures import mean_interval
from virsci_society.metrics.report.page import render_page, write_page
from virsci_society.metrics.report.templates import format_number
from virsci_society.metrics.summary import summarise_run
from virsci_society.society.results.tables import TABLES

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</pre></details><iframe src=javascript:alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "{{ 7 * 7 }}{% for x in y %}",
    "<!--<script>",
    "<meta http-equiv=refresh content='0;url=http://example.org'>",
    "<base href=http://example.org/>",
    "$x^2$ <math><mtext></mtext></math>",
    "\x00<scr\x00ipt>",
]


@pytest.fixture(scope="module")
def html(hand_run):
    """The page of the hand-made run, drawn once."""
    return render_page(hand_run())


def test_the_page_is_inert(html):
    assert_inert(html)
    assert "default-src 'none'" in html
    assert "http://" not in html
    assert "https://" not in html


def test_hostile_text_stays_text(rows, make_run, run):
    html = render_page(hostile(" | ".join(PAYLOADS), rows, make_run, run))
    assert_inert(html)
    assert len(Page(html).elements) > 100
    for payload in PAYLOADS:
        assert " ".join(payload.replace("\x00", "").split()) in Page(html).text()
    for raw in (
        *("<script>a", "<script>d", "<img", "<iframe", "<svg onload", "<base"),
        "<meta http-equiv=r",
        "\x00",
    ):
        assert raw not in html


def hostile(payload, rows, make_run, run):
    """A run with the payload in every text that reaches the page."""
    rows["papers"] = [("S1/1", "S1/1", payload, payload * 2, 50.0, payload, payload)]
    rows["authorships"] = [("S1/1", payload, 0)]
    rows["scientists"] = [(row[0] + payload, payload, *row[2:]) for row in rows["scientists"]]
    rows["ties"] = [(a + payload, b + payload, *rest) for a, b, *rest in rows["ties"]]
    rows["teams"] = [(*row[:10], payload, payload, payload, *row[13:]) for row in rows["teams"]]
    rows["consultations"] = [(*row[:5], payload, payload, row[7]) for row in rows["consultations"]]
    rows["calls"] = [
        (
            *row[:2],
            payload,
            *row[3:10],
            payload,
            True,
            False,
            payload,
            *row[14:18],
            payload,
            payload,
        )
        for row in rows["calls"]
    ]
    rows["citations"] = [("S1/1", payload, 50.0, True)]
    manifest = {
        "name": payload,
        "notes": [payload],
        "backend": {"use": payload, "model": payload, "about": payload},
        "versions": {payload: payload},
        "price": {payload: payload},
        "partial": payload,
        "ledger": {
            "attempts": 3,
            "outcomes": {payload: 2, "in doubt": 1},
            "in_doubt": [payload],
            "sessions": [
                {"session": 1, "release": payload},
                {"session": 2, "release": payload, "changed": [payload]},
            ],
            "parted": payload,
        },
    }
    return make_run(
        rows,
        manifest,
        vectors=run.vectors,
        databases=run.databases,
        scenario_text=payload,
        digest=payload,
    )


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine")
def test_a_browser_runs_nothing_of_it(rows, make_run, run, tmp_path):
    """Each payload would rename the document; the page also says so where scripts may run."""
    payload = " ".join(PAYLOADS).replace("alert(1)", "document.title=document.body.id=1")
    write_page(hostile(payload, rows, make_run, run), tmp_path)
    options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-sync --disable-quic"
    options += " --disable-background-networking --disable-component-update --dump-dom"
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    address = (tmp_path / "report.html").as_uri()
    command = ["chromium", *options.split(), profile, address]
    done = subprocess.run(command, capture_output=True, timeout=500, check=True)
    dom = done.stdout.decode()
    assert '<body class="run">' in dom
    assert "<script" not in dom
    assert "<title>&lt;script&gt;" in dom
    assert dom.count("<section") == 10


def test_every_section_and_banner_is_there(html):
    text = Page(html).text()
    for words in (
        "rule-based scientists, not a language model",
        *("the results say nothing about language models.", "A single run: an illustration"),
        "7 scientists founded 3 teams of 1 to 4 (planned: 2 to 4) in 100 simulated days",
        *("Graphs that speak", "S1, S2, S3, S4", "too small"),
        *("number of teams on acceptance: not estimable", "none"),
        "d" * 64,
        "virsci-society",
    ):
        assert words in text, words
    places = ("timeline", "network", "novelty", "people", "papers")
    found = [html.index(f' id="{place}"') for place in ("short", *places)]
    assert found == sorted(found)
    for place in (*places, "numbers", "provenance"):
        assert f'id="{place}"' in html
        assert f'href="#{place}"' in html


def test_figures_are_drawn_and_named(html):
    found = Page(html)
    figures = [attrs for tag, attrs in found.elements if tag == "svg"]
    assert len(figures) == 7
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in figures)
    assert "var(--blue)" in html
    assert "#050505" not in html
    assert len(found.ids) == len(set(found.ids))


def test_every_reference_inside_the_page_leads_somewhere(html):
    found = Page(html)
    targets = {attrs["href"][1:] for _, attrs in found.elements if "href" in attrs}
    targets |= set(re.findall(r"url\(#([^)]+)\)", html))
    assert targets <= set(found.ids)


def test_every_colour_of_the_figures_has_a_light_and_a_dark_value(html):
    used = set(re.findall(r"var\(--([a-z]+)\)", html))
    light, dark = html.split("@media (prefers-color-scheme: dark)")
    for name in used:
        assert f"--{name}:" in light, name
        if name not in ("sans", "serif"):
            assert f"--{name}:" in dark.split("}")[0], name


def test_the_page_is_the_same_every_time(html, run, rows, make_run):
    other = {name: listed[::-1] for name, listed in rows.items()}
    again = make_run(other, vectors=run.vectors, databases=run.databases, digest=run.digest)
    assert render_page(again) == html
    assert summarise_run(again) == summarise_run(run)
    assert all(again.in_arrow(name).equals(run.in_arrow(name)) for name in TABLES)


def test_the_sentence_about_language_models_is_always_complete(make_run):
    about = "rule-based scientists, not a language model"
    text = Page(
        render_page(make_run(manifest={"backend": {"use": "offline", "about": about}}))
    ).text()
    assert text.count("the results say nothing about language models.") == 1
    assert "training cut-off of the model" not in text
    about = "answers of a language model"
    text = Page(
        render_page(make_run(manifest={"backend": {"use": "litellm", "about": about}}))
    ).text()
    assert "answers of a language model" in text
    assert "say nothing about" not in text
    assert "All decisions and texts come from" not in text
    assert "training cut-off of the model" in text


def test_an_empty_run_has_a_page(empty_run):
    html = render_page(empty_run)
    assert_inert(html)
    text = Page(html).text()
    assert "founded no team in" in text
    assert "No paper was published" in text
    assert "There are no co-authors" in text


def test_a_run_without_novelty_has_a_page(make_run):
    text = Page(render_page(make_run())).text()
    assert "Graphs that speak" in text
    assert "It was not measured in this run" in text


@pytest.mark.slow
def test_many_papers_stay_one_page(rows, make_run):
    rows["papers"] = [
        (f"T{n}", "S1/1", f"Title {n}", "words " * 900, 50.0 + n / 10, "t", "") for n in range(300)
    ]
    html = render_page(make_run(rows))
    assert "The first 40 papers by date." in html
    assert len(html) < 1_500_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0, "0"),
        (7.0, "7"),
        (1234567, "1\u202f234\u202f567"),
        (1234.5, "1\u202f234"),
        (0.12345, "0.123"),
        (1.1, "1.10"),
        (55.06, "55.1"),
        (196.4, "196"),
        (-0.75, "\u22120.750"),
        (0.00001234, "< 0.001"),
        (-0.00001234, "\u22121.2e-05"),
    ],
)
def test_numbers_are_written_for_people(value, text):
    assert format_number(value) == text


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_a_browser_shows_unfolds_and_prints_it(hand_run, tmp_path):
    """At 360 pixels nothing leaves the window; a link opens its fold."""
    path = write_page(hand_run(), tmp_path)
    with Browser(360, 800) as browser:
        browser.open(path)
        assert browser.value("document.documentElement.scrollWidth") == 360
        letters = (
            "Math.min(...[...document.querySelectorAll('section > figure svg text')].map(one => "
            "one.getAttribute('font-size') * one.ownerSVGElement.clientWidth"
            " / one.ownerSVGElement.viewBox.baseVal.width))"
        )
        assert browser.value(letters) > 7, "pixels of the smallest letters of unfolded figures"
        browser.value("location.hash = '#people'")
        browser.until("document.querySelector('#people').closest('details').open")
        browser.send("Emulation.setEmulatedMedia", media="print")
        sheets = base64.b64decode(browser.send("Page.printToPDF")["data"])
        assert 1 <= len(re.findall(rb"/Type\s*/Page[^s]", sheets)) <= 6
        assert browser.requests() == []
        assert browser.complaints() == []


def test_the_page_names_the_interval_that_was_computed(hand_run, monkeypatch):
    run = hand_run()
    run.manifest["backend"] = {"use": "litellm", "about": "the language model m"}
    values = np.array([1.0, 2.0, 4.0])
    assert mean_interval(values).method == t_interval(values).method == "Student's t"
    assert bca_interval(values).method == "BCa bootstrap"
    computed = Interval(1.0, 0.5, 1.5, 9, 0.95, "some other method")
    monkeypatch.setattr(figures, "mean_interval", lambda values: computed)
    assert "intervals (some other method)." in render_page(run)
