"""The folder of a listing: every call in a file of its own, and an index that adds up."""

import json
import re
from dataclasses import replace

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.metrics.report.templates import format_number
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.planning import prompt_pages
from virsci_society.scenarios.planning.prompt_pages import write_pages
from virsci_society.scenarios.planning.prompt_recording import TOKENS, rehearse_pages

MODEL = {"use": "openai", "model": "any", "api_base": "http://127.0.0.1:1/v1"}


@pytest.fixture(scope="module")
def listing(small_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("listing") / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return rehearse_pages(load_scenario(path).set("backend", MODEL))


def test_each_call_is_one_file_with_all_that_is_sent(listing, tmp_path):
    write_pages(listing, tmp_path / "out")
    files = sorted((tmp_path / "out" / "pages").iterdir())
    assert len(files) == len(listing.calls)
    for number, (file, one) in enumerate(zip(files, listing.calls, strict=True), 1):
        text = file.read_text(encoding="utf-8")
        assert file.name.startswith(f"{number:04d}-")
        assert f"- call: `{one.id}`\n- page: {one.page}\n" in text
        for message in one.messages:
            assert message.content in text
        assert "- tokens: prompt " in text
        asked, line, reply = text.partition("\n---\n\n## Reply of the rehearsal\n")
        assert line
        assert one.text in reply
        assert "not of a language model" in asked


def test_no_terminal_obeys_what_a_model_has_written(listing, tmp_path):
    hostile = "\x1b]0;mine\x07\x1b[2J\x9b31m over\rwritten \u202e"
    calls = [
        replace(
            one,
            text=hostile,
            messages=(*one.messages, replace(one.messages[0], content=hostile)),
            row={**one.row, "scientist": hostile},
        )
        for one in listing.calls[:2]
    ]
    write_pages(replace(listing, calls=tuple(calls), title=hostile), tmp_path / "out")
    files = [one for one in (tmp_path / "out").rglob("*") if one.is_file()]
    assert len(files) == 4
    for file in files:
        held = set(file.read_text(encoding="utf-8"))
        assert not held & set("\x1b\x07\x9b\r\u202e"), file


def test_the_index_lists_every_call_and_adds_up_without_a_script(listing, tmp_path):
    table = write_pages(listing, tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="(pages/[^"]+)"', page)
    assert len(links) == len(listing.calls)
    assert all((tmp_path / link).is_file() for link in links)
    sums = [format_number(n) for n in (len(table), *table[[*TOKENS]].sum())]
    row = "".join(f'<td class="number">{one}</td>' for one in sums)
    assert page.count(f"<td>all</td>{row}") == 2
    headings = re.findall(r"^<h3>(.*)</h3>$", page, re.MULTILINE)
    stages = list(dict.fromkeys(one.partition(",")[0] for one in headings))
    assert stages == ["selection", "topic", "ideas", "novelty", "abstract"]
    data = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert [one["file"] for one in data["calls"]] == links
    assert sum(one["prompt"] for one in data["calls"]) == table["prompt"].sum()
    assert page.count("<details>") == page.count("## Form of the answer") == len(listing.calls)
    assert "&gt; " in page
    assert "<script" not in page
    assert "A rehearsal." in page


def test_of_a_long_listing_the_page_has_links_only(listing, tmp_path, monkeypatch):
    monkeypatch.setattr(prompt_pages, "MOST_CHARACTERS", 1000)
    write_pages(listing, tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "## Form of the answer" not in page
    assert page.count('href="pages/') == len(listing.calls)


def test_a_listing_takes_the_place_of_an_earlier_one(listing, tmp_path):
    write_pages(listing, tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "pages" / "mine.md").write_text("mine")
    shorter = replace(listing, calls=listing.calls[:3])
    write_pages(shorter, tmp_path)
    assert len(list((tmp_path / "pages").iterdir())) == 3 + 1
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("held", [{"report.html": "x"}, {"index.json": "{}"}, {"index.json": "["}])
def test_a_folder_of_something_else_is_left_alone(listing, tmp_path, held):
    for name, text in held.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="holds other files; give another folder with --out"):
        write_pages(listing, tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == held


def test_a_folder_that_cannot_be_written_to_is_bad_input(listing, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="give another folder with --out"):
        write_pages(listing, tmp_path / "file" / "out")
