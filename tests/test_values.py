"""Printed results in the documentation: none is older than the scenario it was printed from."""

import pytest

from benchmarks.printed import DOCS
from benchmarks.values import (
    BLOCKS,
    END,
    PENDING,
    README,
    STAMP,
    facts_of,
    is_current,
    main,
    replace,
    stamped,
)

PAGES = [README, *sorted(DOCS.rglob("*.md"))]


def there(block):
    (found,) = (one for one in stamped(block.page) if one.name == block.name)
    return found


def test_every_stamp_is_of_a_block_that_can_be_printed():
    held = [(page, one.name) for page in PAGES for one in stamped(page)]
    assert sorted(held) == sorted((block.page, block.name) for block in BLOCKS)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert text.count("<!-- values ") == len(STAMP.findall(text)) == text.count(END), page


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page.stem}, {block.name}")
def test_what_was_printed_is_of_the_present_scenario(block):
    """Both hashes are worked out anew, from the scenarios and two small runs; nothing long runs."""
    held = there(block)
    assert held.command == block.command
    where = f"docs/{block.page.name}" if block.page != README else "README.md"
    assert held.facts != PENDING, f"{where}:{held.line} has no stamp"
    now = facts_of(block)
    again = f"make values PAGE={block.page.name}"
    if block.text is None:
        again = f"{block.command}, with {block.needs}"
    assert is_current(held.facts, now), (
        f"{where}:{held.line}, {block.name}: printed from {held.facts}; now it is {now}: {again}"
    )


def test_a_quick_block_is_as_it_is_printed_now():
    """The first example of README, and the fork of the tutorial, have such tests of their own."""
    (block,) = (one for one in BLOCKS if not one.minutes)
    assert block.text is not None
    assert there(block).text == block.text()


def test_a_block_is_replaced_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    block = BLOCKS[0]._replace(page=page)
    page.write_text(
        f"before\n\n<!-- values {block.name}: old | {PENDING} -->\n\nold\n\n{END}\nafter\n", "utf-8"
    )
    replace(page, block, "scenario ab, seed 1, code cd, release 1.0", "new\n")
    once = page.read_text("utf-8")
    assert once.startswith("before\n\n<!-- values ")
    assert once.endswith(f"\n\nnew\n\n{END}\nafter\n")
    replace(page, block, "scenario ab, seed 1, code cd, release 1.0", "new\n")
    assert page.read_text("utf-8") == once
    assert there(block).command == block.command


@pytest.mark.parametrize(
    ("held", "current"),
    [
        ("scenario ab, seed 1, code cd, release 0.9", True),
        ("scenario ax, seed 1, code cd, release 1.0", False),
        ("scenario ab, seed 2, code cd, release 1.0", False),
        ("scenario ab, seed 1, code cx, release 1.0", False),
        (PENDING, False),
    ],
)
def test_another_release_alone_makes_nothing_old(held, current):
    assert is_current(held, "scenario ab, seed 1, code cd, release 1.0") is current


def test_a_changed_default_is_seen(monkeypatch):
    """Another default under a printed result is another hash."""
    block = next(one for one in BLOCKS if one.name == "delays")
    before = block.source()
    from benchmarks.printed import scenario

    assert scenario("community/closed", **{"protocol.turns": 9})() != before
    assert scenario("community/closed", seed=2)().seed == 2


def test_the_list_says_how_every_block_stands(capsys):
    assert main(["--list", "statistics.md"]) == 0
    assert "docs/statistics.md:" in capsys.readouterr().out
