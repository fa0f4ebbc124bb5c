"""Text as a terminal shows it."""

from virsci_society.agents.spelling import plain_line, plain_text, printable


def test_control_characters_are_escaped_and_spaces_that_do_not_break_are_spaces():
    assert printable("8\u202f141 papers\u00a0in 2024") == "8 141 papers in 2024"
    assert printable("a\x1b[31mb\u202fc") == "a\\x1b[31mb c"
    assert printable("é – plain") == "é – plain"


def test_no_terminal_obeys_and_every_page_holds_a_plain_text():
    assert plain_text("a\tb\nc\r\nd ü 漢 😀") == "a\tb\nc\r\nd ü 漢 😀"
    assert plain_text("a\x1b[31m\x07\x9b\x7f\rb\u202e\ud800") == "a\ufffd[31m" + "\ufffd" * 4 + (
        "b" + "\ufffd" * 2
    )
    assert plain_line(" a\x1b[31m\n\tb ") == "a [31m b"
