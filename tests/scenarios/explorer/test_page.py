"""The explorer's page: nothing but its own script runs, and every text of a run stays text (R9)."""

import base64
import hashlib
import json
import re

import networkx as nx
import pytest

from tests.browser import CHROMIUM, Browser
from tests.metrics.html_page import Page
from tests.scenarios.explorer.packed import unpack
from virsci_society.metrics.network_layout import run_communities
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.scenarios.explorer import page as explorer_page
from virsci_society.scenarios.explorer.conversations import PromptBook
from virsci_society.scenarios.explorer.page import LIMITS, render_explorer, room_for, write_explorer

HACK = "window.hacked=1,document.title=1,document.body.id=1"
PAYLOADS = (
    f"<script>{HACK}</script>",
    f"<img src=x onerror={HACK}>",
    f'"><svg onload={HACK}>',
    f"</script><script>{HACK}</script>",
    f"' onmouseover='{HACK}",
    f"<a href='javascript:{HACK}'>x</a>",
    "<meta http-equiv=refresh content='0;url=http://example.org'>",
    "<iframe src=http://example.org></iframe><base href=http://example.org/>",
    "{{ 7 * 7 }} &lt;b&gt; #team=x&q=y",
    "\u2028\u202e\x07\x00",
)
PAYLOAD = " ".join(PAYLOADS)
KEPT = {"published", "running", "dissolved", "accepted", "declined", "full", "leader", "member"}
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")


def hostile(value):
    """The same value with the payload in each of its texts, ids and names included."""
    if isinstance(value, str) and value not in KEPT:
        return f"{value} {PAYLOAD}"
    if isinstance(value, tuple | list):
        return type(value)(hostile(one) for one in value)
    return value


@pytest.fixture
def attacked(rows, make_run):
    """A run whose every name, id, title, topic, stage and reply holds the payload."""
    rows = hostile(rows)
    reply = json.dumps({"Response": PAYLOAD, PAYLOAD: [PAYLOAD, {PAYLOAD: PAYLOAD}]})
    rows["calls"] = [(*row[:17], reply, *row[18:]) for row in rows["calls"]]
    manifest = {"name": PAYLOAD, "backend": {"use": PAYLOAD, "model": PAYLOAD, "about": PAYLOAD}}
    return make_run(rows, manifest)


def book_of(run, text):
    calls = run.table("calls")["call"]
    ideas = [CandidateIdea(Idea.model_construct(title=text), text, used=(text,), retrieved=(text,))]
    return PromptBook(dict.fromkeys(calls, text), dict.fromkeys(calls, ideas), {text: text})


def test_the_policy_names_this_script_and_this_style(run):
    html = render_explorer(run)[0]
    policy = re.search('Content-Security-Policy" content="(.*?)"', html).group(1)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    for tag in ("script", "style"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_no_handler_link_or_request_is_in_it(run):
    html = render_explorer(run)[0]
    for tag, attrs in Page(html).elements:
        assert tag not in ("img", "link", "iframe", "object", "embed", "base"), tag
        for name, value in attrs.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "href", "action", "srcdoc"), (tag, name, value)


def test_texts_of_a_run_end_no_element(attacked):
    html = render_explorer(attacked, book_of(attacked, PAYLOAD))[0]
    assert html.count("<script") == 5  # settings, what is drawn, the script, words, prompts
    assert html.count("</script>") == 5
    for raw in ("<img", "<iframe", "<svg onload", "<base ", "<meta http-equiv=r"):
        assert raw not in html
    assert f"<title>Explorer: {PAYLOAD[:8].replace('<', '&lt;').replace('>', '&gt;')}" in html


def test_the_script_never_parses_text_as_html():
    script = "".join(explorer_page._source(name) for name in explorer_page.SCRIPTS)
    for banned in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert banned not in script
    for banned in ("new Function", "fetch(", "XMLHttpRequest", "WebSocket", "import(", ".src"):
        assert banned not in script


def test_the_limit_goes_with_the_number_of_scientists(run, make_run, rows):
    assert room_for(run) == LIMITS[0][1]
    rows["scientists"] = [(f"S{n}", "a", 0, 0, None, None) for n in range(LIMITS[0][0] + 1)]
    assert room_for(make_run(rows)) == LIMITS[1][1]


def test_what_is_left_out_is_on_the_page(run, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer_page, "LIMITS", ((None, 185_000),))
    left_out = write_explorer(tmp_path / "explorer.html", run)
    words = Page((tmp_path / "explorer.html").read_text()).text()
    assert left_out
    for sentence in left_out:
        assert sentence in words


def test_of_a_large_society_it_knows_that_not_everybody_is_in_its_tables(run, make_run):
    large = make_run(manifest={"ecosystem": {"counts": {"scientists": 1_000_000}}})
    for one, unlisted in ((run, False), (large, True)):
        html = render_explorer(one)[0]
        told = unpack(re.search('id="settings">(.*?)<', html).group(1))[0]
        assert told["unlisted"] is unlisted


def test_a_run_in_which_nothing_happened(empty_run):
    assert "<canvas" not in render_explorer(empty_run)[0]


def views(run):
    """Addresses of every kind of view of a run."""
    some = run.table("teams").iloc[0]
    call = run.table("calls").iloc[0]
    return [
        *({"tab": name} for name in ("overview", "people", "teams", "papers", "search", "keys")),
        {"who": some["leader"]},
        {"team": some["team"]},
        {"team": call["team"], "call": 3, "day": 60},
        {"paper": run.table("papers")["paper"].iloc[0]},
        {"tab": "search", "q": "<script>", "fwho": some["leader"]},
        {"tab": PAYLOAD, "q": PAYLOAD, "who": PAYLOAD, "day": PAYLOAD},
    ]


@needs_browser
def test_a_browser_runs_nothing_of_it(attacked, tmp_path, promise):
    """Each payload would set a mark; every view is shown, each prompt unfolded."""
    path = tmp_path / "explorer.html"
    write_explorer(path, attacked, book_of(attacked, PAYLOAD))
    with Browser() as browser:
        browser.open(path)
        browser.until("document.documentElement.dataset.ready === 'true'")
        shown = ""
        for view in views(attacked):
            address = f"new URLSearchParams({json.dumps(view)}).toString()"
            shown += browser.value(
                f"location.hash = {address}; new Promise((done) => setTimeout(() => {{"
                "document.querySelectorAll('#view details').forEach((one) => { one.open = true; });"
                "setTimeout(() => done(document.getElementById('view').textContent), 30); }, 30))"
            )
        assert browser.value("window.hacked") is None
        assert browser.value("document.title").startswith("Explorer: <script>")
        assert browser.value("document.body.id") == ""
        assert browser.value("document.querySelectorAll('img,iframe,base,svg[onload]').length") == 0
        assert browser.value("document.querySelectorAll('#view [onmouseover]').length") == 0
        assert browser.requests() == []
        assert browser.complaints() == []
        assert browser.value("location.pathname") == str(path)
        for payload in PAYLOADS[:8]:
            assert shown.count(payload) > 10, payload
    promise("R9", "views of an explorer with payloads in every text", len(views(attacked)))


@needs_browser
def test_the_overview_names_the_most_central_and_the_legend_the_communities(run, tmp_path):
    path = tmp_path / "explorer.html"
    write_explorer(path, run)
    ties = run.table("ties")
    pairs = {frozenset(pair) for pair in zip(ties["source"], ties["target"], strict=True)}
    count = {
        who: sum(who in pair for pair in pairs) for who in run.table("scientists")["scientist"]
    }
    first = min(count, key=lambda who: (-count[who], who))
    whole = run_communities(run)
    with Browser() as browser:
        browser.open(path)
        browser.until("document.documentElement.dataset.ready === 'true'")
        text = browser.value("document.getElementById('view').textContent")
        assert f"Most central on this day: {first} ({count[first]} co-authors), " in text
        graph = nx.Graph(list(map(tuple, pairs)))
        largest = len(max(nx.connected_components(graph), key=len))
        assert f", {largest} of the {len(graph)} scientists with a co-author (" in text
        legend = browser.value("document.getElementById('communities').textContent")
        for label, size in zip(whole.labels, whole.sizes, strict=True):
            assert f"{label} ({size} people)" in legend
        ticks = browser.value(
            "[...document.querySelectorAll('#view svg text')].map(t => t.textContent)"
        )
        assert {"0", "6"} <= set(ticks)
