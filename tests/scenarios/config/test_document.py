"""Documents: extends, --set and arguments laid over each other, each key with its origin."""

import pytest

from virsci_society.scenarios.config.document import Document, from_settings, read_document


def over(base, top):
    return Document(base).merged_with(Document(top)).data


@pytest.mark.parametrize(
    ("base", "top", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}, {"a": {"x": 1, "y": 3}}),
        ({"a": {"x": 1}}, {"a": None}, {"a": None}),
        ({"a": 5}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {2: 0.5, 3: 1}}, {"a": {5: 1}}, {"a": {5: 1}}),
        ({"a": {}}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": {"use": "b", "x": 1}}, {"a": {"use": "c"}}, {"a": {"use": "c"}}),
        ({"a": {"use": "b", "x": 1}}, {"a": {"use": "b"}}, {"a": {"use": "b", "x": 1}}),
    ],
)
def test_the_upper_document_wins_key_by_key(base, top, merged):
    assert over(base, top) == merged


def test_neither_document_is_changed():
    base, top = Document({"a": {"x": 1}}), Document({"a": {"y": 2}})
    base.merged_with(top).data["a"]["z"] = 3
    assert base.data == {"a": {"x": 1}}
    assert top.data == {"a": {"y": 2}}


def test_every_key_remembers_the_file_that_holds_it(write):
    write("base.yaml", "seed: 1\nprotocol: {turns: 2, leaving: on}\n")
    document = read_document(write("child.yaml", "extends: base.yaml\nprotocol:\n  turns: 3\n"))

    def label(*path):
        origin = document.origin(path)
        assert origin is not None
        return origin.label

    assert label("seed") == "base.yaml:1:1"
    assert label("protocol", "leaving") == "base.yaml:2:22"
    assert label("protocol", "turns") == "child.yaml:3:3"
    assert label("protocol") == "child.yaml:2:1"
    assert label("protocol", "nothing") == "child.yaml:2:1"
    assert document.origin(("nothing",)) is None


def test_a_chain_of_three_and_the_library_at_its_end(write):
    write("a.yaml", "extends: quickstart\nseed: 5\n")
    write("b.yaml", "extends: a.yaml\nuntil: 2y\n")
    document = read_document(write("c.yaml", "extends: b.yaml\nprotocol: {turns: 4}\n"))
    assert document.data["seed"] == 5
    assert document.data["until"] == "2y"
    assert document.data["protocol"]["use"] == "virsci"
    assert document.data["protocol"]["turns"] == 4
    assert document.data["protocol"]["memory"] == "own"


@pytest.mark.parametrize("value", ["[a, b]", "3", "null", "{a: 1}"])
def test_extends_takes_one_name(write, faults, value):
    a = write("a.yaml", f"extends: {value}\n")
    (line,) = faults(lambda: read_document(a))
    assert line.startswith("a.yaml:1:1: extends: expected one scenario name or path, got ")


def test_a_broken_parent_is_told_by_its_own_place(write, faults):
    write("base.yaml", "seed: 1\nseed: 2\n")
    child = write("child.yaml", "extends: base.yaml\n")
    assert faults(lambda: read_document(child)) == [
        "base.yaml:2:1: key 'seed' appears twice (first in line 1); remove one"
    ]


def test_a_name_of_the_library_wins_over_a_file_without_suffix(write):
    write("quickstart", "seed: 99\n")
    assert read_document("quickstart").data["seed"] != 99
    assert read_document("./quickstart").data["seed"] == 99


def test_a_value_may_hold_equals_signs_and_nothing():
    assert from_settings(["a=b=c", "d="]).data == {"a": "b=c", "d": None}
    # In whatever order a part and its keys are given; of two parts the last one holds.
    assert from_settings(["p.n=1", "p.use=x"]).data == {"p": {"n": 1, "use": "x"}}
    assert from_settings(["p.use=y", "p.n=1", "p.use=x"]).data == {"p": {"use": "x"}}


def test_sections_of_a_list_are_changed_by_their_number():
    """Without brackets, which zsh would take for a pattern."""
    base = Document({"via": [{"a": 1, "b": 2}, {"a": 3}]})
    for settings, after in (
        (["via.0.b=5"], [{"a": 1, "b": 5}, {"a": 3}]),
        (["via.2.a=4", "via.2.b=6"], [{"a": 1, "b": 2}, {"a": 3}, {"a": 4, "b": 6}]),
    ):
        assert base.merged_with(from_settings(settings)).data == {"via": after}
    assert base.data == {"via": [{"a": 1, "b": 2}, {"a": 3}]}
    assert base.merged_with(from_settings(["via.5.a=4"])).data == {"via": {5: {"a": 4}}}


def test_all_wrong_settings_are_told(faults):
    lines = faults(lambda: from_settings(["a", "=3", "a..b=1", "b=[1", "extends=x", "ok=1"]))
    assert len(lines) == 5
    assert lines[0] == "--set a: write it as key=value, such as protocol.turns=3"
    assert lines[3].startswith("--set b:")
    assert lines[4].startswith("--set extends: only a file can extend another")
