"""Text as a terminal shows it."""

from virsci_society.agents.spelling import printable


def test_control_characters_are_escaped_and_spaces_that_do_not_break_are_spaces():
    assert printable("8\u202f141 papers\u00a0in 2024") == "8 141 papers in 2024"
    assert printable("a\x1b[31mb\u202fc") == "a\\x1b[31mb c"
    assert printable("é – plain") == "é – plain"
