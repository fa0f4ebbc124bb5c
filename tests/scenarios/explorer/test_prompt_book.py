"""Prompts of a finished run, made anew from its journal."""

import shutil

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.explorer.conversations import read_prompts
from virsci_society.society.results.run import Run


@pytest.fixture(scope="module")
def book(small_run):
    return read_prompts(small_run, 10, None)


@pytest.mark.slow
def test_every_call_has_its_prompt(small_run, book):
    calls = Run.open(small_run).table("calls")
    assert set(book.texts) == set(calls["call"])
    assert all("[user]\n" in text for text in book.texts.values())


@pytest.mark.slow
def test_ballots_list_ideas_and_ideas_name_papers(small_run, book):
    calls = Run.open(small_run).table("calls")
    for call in calls[calls["act"] == "vote"]["call"]:
        ideas = book.ideas[call]
        assert ideas
        assert all(idea.idea.title and idea.author for idea in ideas)
        assert {paper for idea in ideas for paper in idea.used} <= set(book.titles)


@pytest.mark.slow
def test_why_there_are_none_is_said(small_run, tmp_path):
    assert read_prompts(small_run, 10, False).missing == "not asked for"
    assert "10,000" in read_prompts(small_run, 10_001, None).missing
    copy = shutil.copytree(small_run, tmp_path / "copy")
    (copy / "manifest.json").unlink()
    assert "manifest.json" in read_prompts(copy, 10, None).missing
    with pytest.raises(InputError, match=r"manifest\.json"):
        read_prompts(copy, 10, True)


def test_a_run_without_calls_has_nothing_to_make_anew(tmp_path):
    assert read_prompts(tmp_path, 0, None).missing == ""
