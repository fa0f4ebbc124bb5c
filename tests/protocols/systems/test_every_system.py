"""Every research system runs offline and over HTTP, alone and beside all others, on clean pages."""

import re
from pathlib import Path

import pytest

from tests.protocols.systems.conftest import SMALL, make
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.prompts.request import total_characters
from virsci_society.agents.replies.form import FIELDS, render_form
from virsci_society.protocols.mixture import Component, Mixture
from virsci_society.scenarios.cli.library_list import part_lines
from virsci_society.scenarios.config.registry import PROTOCOLS
from virsci_society.society.formation.founding import Once

ROOT = Path(__file__).parents[3]
SYSTEMS = sorted(
    set(PROTOCOLS) - {"virsci", "wordless", "bandit", "epistemic_landscape", "mixture"}
)
SOME = [
    pytest.param(name, marks=pytest.mark.slow if n % 3 else ()) for n, name in enumerate(SYSTEMS)
]
"""All of them; `make test` tries every third."""
PAPERS = [
    ROOT.parent / "shared" / "reference" / f"{name}-paper.txt"
    for name in ("virsci", "beyond-brainstorming")
]


def test_every_system_is_tried_and_described():
    assert sorted(SMALL) == SYSTEMS
    text = "\n" + "\n".join(part_lines("protocols"))
    page = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")
    for name in SYSTEMS:
        assert f"| [`{name}`](" in page, f"docs/protocols.md lacks {name}"
        assert f"](#{name})" not in page or f"\n### {name}\n\n" in page, name
        told = text.split(f"\n{name} ")[1].split("\n")
        assert re.search(r"\(.+ et al\., 20\d\d.*\)\.$", told[0]), told[0]
        assert told[1].startswith("    "), f"{name} states no source"


@pytest.mark.parametrize("name", SYSTEMS)
def test_it_runs_offline_by_rules_alone(live, name):
    lived = live(make(name))
    (team,) = lived.rows("teams")
    assert team["state"] == "published", team["reason"]
    assert team["protocol"] == name
    assert team["idea_by"] in [row["scientist"] for row in lived.rows("members")]
    (paper,) = lived.rows("papers")
    assert paper["title"]
    assert len(paper["abstract"].split()) > 80
    calls = lived.rows("calls")
    assert not [call["form"] for call in calls if call["unruled"]]
    assert not [call["form"] for call in calls if call["defaulted"]]


@pytest.mark.parametrize("name", SYSTEMS)
def test_pages_are_whole_and_ask_for_what_the_schema_asks(live, name):
    lived = live(make(name))
    for call, request, _ in lived.asked:
        user = request.messages[1].content
        assert "\n\n\n" not in user, request.id
        assert not re.search(r"\{\{|\{%|None\b|<Answer|object at 0x|Undefined", user), request.id
        assert "[…]" not in re.sub(r"^>.*$", "", user, flags=re.MULTILINE), "something was cut"
        assert total_characters(request.messages) < 60_000, (request.id, call.stage)
        schema = request.form.schema_for(request.slots)
        assert user.endswith(render_form(schema, schema_sent=True)), request.id
        listed = user.rpartition(FIELDS)[2]
        fields = re.findall(r'^- "([A-Za-z_ ]+)":', listed, re.MULTILINE)
        assert fields == list(schema["properties"]), request.id


def plain(text):
    text = re.sub(r"\{[{%].*?[%}]\}", " ", text)
    return re.findall(r"[a-z0-9]+", text.lower())


def runs(words, length=8):
    return {tuple(words[k : k + length]) for k in range(len(words) - length + 1)}


def own_pages():
    folders = [ROOT / "protocols" / name / "prompts" for name in ("engines", "systems", "virsci")]
    return [page for folder in folders for page in sorted(folder.glob("*.txt"))]


@pytest.mark.parametrize("page", own_pages(), ids=lambda page: f"{page.parts[-3]}-{page.stem}")
def test_pages_are_asked_for_and_clean_text_in_our_own_words(page):
    text = page.read_text(encoding="utf-8")
    asking = [*(ROOT / "protocols").rglob("*.py"), *(ROOT / "protocols").rglob("*.yaml")]
    named = re.compile(rf'"{page.stem}"|(page|review): {page.stem}\b')
    assert any(named.search(path.read_text(encoding="utf-8")) for path in asking)
    assert text.isascii()
    assert "\t" not in text
    assert not re.search(r" +$", text, re.MULTILINE)
    for paper in PAPERS:
        if paper.is_file():
            copied = runs(plain(text)) & runs(plain(paper.read_text(encoding="utf-8")))
            assert not copied, [" ".join(words) for words in copied]


def texts(lived):
    papers = [(row["paper"], row["title"], row["abstract"]) for row in lived.rows("papers")]
    return papers, lived.rows("citations")


@pytest.mark.slow
def test_one_society_has_teams_of_every_system(live):
    founding = Once(count=30, every=5.0)
    parts = tuple(Component(share=1.0, protocol=make(name), name=name) for name in SYSTEMS)
    offline = live(Mixture(of=parts), founding=founding, until=900.0)
    protocols = {team["protocol"] for team in offline.rows("teams")}
    assert protocols == set(SYSTEMS)
    assert {t["state"] for t in offline.rows("teams")} <= {"published", "dissolved"}


@pytest.mark.parametrize("name", SOME)
def test_it_runs_over_http_alone(live, server, monkeypatch, name):
    """The words of the server are those of the rules, so the papers are the same."""
    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    over_http = OpenAI(model="test", api_base=server.url, key="FAULTSERVER_KEY")
    spoken, offline = live(make(name), backend=over_http), live(make(name))
    assert texts(spoken) == texts(offline)
    assert spoken.events("notes") == offline.events("notes")
