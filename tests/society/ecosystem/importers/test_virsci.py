"""VirSci's files: literals are read and never run, derived files are left alone."""

import pytest

from tests.society.ecosystem.importers.foreign_files import FILES, VIRSCI, put
from virsci_society.society.ecosystem.importers.fields import LONGEST_LITERAL, parse_literal
from virsci_society.society.ecosystem.importers.json_papers import VirSciFiles


def test_profiles_and_matrices_are_counted_and_not_used(tmp_path):
    source = VirSciFiles(put(tmp_path, FILES["virsci"]))
    list(source)
    assert source.report.read == 3
    assert source.report.unused == ["adjacency.txt: derived", "author_0.txt: derived"]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('pathlib').Path({path!r}).touch()",
        "{{'id': open({path!r}, 'w')}}",
        "{{'id': [x for x in open({path!r}, 'w')]}}",
        "(lambda: open({path!r}, 'w'))()",
        "f\"{{open({path!r}, 'w')}}\"",
    ],
)
def test_nothing_in_a_file_is_run(text, tmp_path):
    mark = tmp_path / "mark"
    text = text.format(path=str(mark))
    put(tmp_path / "p", {"0.txt": VIRSCI[0], "1.txt": text})
    source = VirSciFiles(tmp_path / "p", malformed_share=0.5)
    assert len(list(source)) == 1
    assert source.report.malformed == 1
    assert "not a Python literal" in source.report.shown[0]
    assert not mark.exists()


@pytest.mark.parametrize(
    "data",
    [
        "[" * 100_000,
        "-" * 200_000 + "1",
        "1+" * 60_000 + "1",
        "9" * 100_000,
        "'a' * 10**9",
        "10**10**10",
        "\x00",
        "\udcff",
        "{[]: 1}",
        "",
    ],
    ids=range(10),
)
def test_a_literal_that_is_none_says_so_in_words(data):
    with pytest.raises(ValueError, match=r"literal|deeply|longer|UTF-8") as told:
        parse_literal(data)
    assert "0x" not in str(told.value)


def test_a_literal_that_is_too_long_is_not_parsed():
    longest = "'" + "a" * (LONGEST_LITERAL - 2) + "'"
    assert len(parse_literal(longest)) == LONGEST_LITERAL - 2
    with pytest.raises(ValueError, match="longer than 262,144 characters"):
        parse_literal(longest + " ")
