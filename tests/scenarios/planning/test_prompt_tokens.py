"""Counts of a public tokenizer, without a network."""

import os

import pytest

from virsci_society.scenarios.planning import prompt_recording as prompt_tokens
from virsci_society.scenarios.planning.prompt_recording import count_tokens, tokenizer_name


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        # The examples of OpenAI's cookbook, "How to count tokens with tiktoken".
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        # A special token in a text is text.
        ("<|endoftext|>", 7),
    ],
)
def test_texts_are_counted_as_tiktoken_counts_them(text, tokens):
    assert tokenizer_name() == "cl100k_base"
    assert count_tokens(text) == tokens


def test_half_of_a_surrogate_pair_is_counted():
    assert count_tokens("a\ud800b") == count_tokens("a?b")


def test_the_environment_stays_as_it_was(monkeypatch):
    prompt_tokens._encoding.cache_clear()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/somewhere")
    assert count_tokens("one") == 1
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/somewhere"
    prompt_tokens._encoding.cache_clear()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    assert count_tokens("one") == 1
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


def test_without_the_vocabulary_tokens_are_estimated(monkeypatch):
    monkeypatch.setattr(prompt_tokens, "FOLDER", "nowhere")
    prompt_tokens._encoding.cache_clear()
    try:
        assert tokenizer_name() == "estimated, one token per four characters"
        assert count_tokens("x" * 9) == 3
    finally:
        monkeypatch.undo()
        prompt_tokens._encoding.cache_clear()
