"""YAML in and out: places, truth values, and files that mean harm."""

import contextlib
import os
import tracemalloc

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.yaml_io import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    parse_value,
    parse_yaml,
    read_yaml,
    write_yaml,
)

pytestmark = pytest.mark.usefixtures("collected")


def fault(text):
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "f.yaml")
    return str(caught.value)


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "On", "OFF", "Yes", "NO", "y", "n"])
def test_words_of_yaml_1_1_stay_words(word):
    assert parse_yaml(f"key: {word}", "f").data == {"key": word}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("True", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e5", 1e5),
        ("1.0e-05", 1e-5),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2024-01-01", "2024-01-01"),
        ("10m", "10m"),
        ("'7'", "7"),
        ('"true"', "true"),
        ("<<", "<<"),
        ("=", "="),
        ("[1, off, {a: 2}]", [1, "off", {"a": 2}]),
        ("{}", {}),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    found = parse_yaml(f"key: {text}", "f").data["key"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", [".nan", ".inf", "-.INF", "1e999"])
def test_a_number_without_value_is_refused(text):
    with pytest.raises(InputError, match=r"^f:1:6: .* is not a usable number; write a finite one"):
        parse_yaml(f"key: {text}", "f")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n"])
def test_an_empty_file_is_an_empty_scenario(text):
    assert parse_yaml(text, "f").data == {}


def test_every_key_and_item_has_its_place():
    sheet = parse_yaml("a: 1\nb:\n  c: 2\n  d: [x, y]\ne: {f: {g: 3}}\n", "f.yaml")
    assert sheet.marks == {
        ("a",): "f.yaml:1:1",
        ("b",): "f.yaml:2:1",
        ("b", "c"): "f.yaml:3:3",
        ("b", "d"): "f.yaml:4:3",
        ("b", "d", 0): "f.yaml:4:7",
        ("b", "d", 1): "f.yaml:4:10",
        ("e",): "f.yaml:5:1",
        ("e", "f"): "f.yaml:5:5",
        ("e", "f", "g"): "f.yaml:5:9",
    }


def test_places_count_from_the_first_line_after_a_byte_order_mark(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_bytes(b"\xef\xbb\xbfseed: 1\r\nuntil: 1y\r\n")
    sheet = read_yaml(path)
    assert sheet.data == {"seed": 1, "until": "1y"}
    assert sheet.marks[("until",)].endswith("s.yaml:2:1")


def test_keys_that_stand_twice_are_all_named():
    assert fault("a: 1\nb: {x: 1, x: 2}\na: 2\n").splitlines() == [
        "f.yaml:2:11: key 'x' appears twice (first in line 2); remove one",
        "f.yaml:3:1: key 'a' appears twice (first in line 1); remove one",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b\n", "f.yaml:1:1: a scenario is a mapping of keys to values"),
        ("just words", "f.yaml:1:1: a scenario is a mapping of keys to values"),
        ("a:\n\t- b", "f.yaml:2:1: not YAML: found character '\\t' that cannot start any token; "),
        ("a: [1, 2", "f.yaml:1:9: not YAML:"),
        ("a: 'x", "f.yaml:1:6: not YAML:"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: not YAML: but found another document"),
        ("a: *nothing", "f.yaml:1:4: not YAML: found undefined alias"),
        ("a: \x00", "f.yaml: not YAML: unacceptable character"),
        ("true: 1", "f.yaml:1:1: a key must be a word or a whole number"),
        ("? [a]\n: 1", "f.yaml:1:3: a key must be a word or a whole number"),
        ("1.5: 1", "f.yaml:1:1: a key must be a word or a whole number"),
        ("a: " + "9" * 5000, "f.yaml:1:4: '9999999999999999999999999999999999999999' is not a"),
    ],
)
def test_broken_files_are_told_with_their_place(text, message):
    assert fault(text).startswith(message)


@pytest.mark.parametrize(
    "tag",
    [
        *("!!python/object/apply:os.system [echo]", "!!python/name:os.system"),
        *("!!python/object/new:type [x, [], {}]", "!local x", "!!binary aGVsbG8=", "!!set {a}"),
        *("!!timestamp 2001-01-01", "!!map x"),
    ],
)
def test_tags_build_nothing(tag):
    with pytest.raises(InputError, match=r"f\.yaml:1:4: "):
        parse_yaml(f"a: {tag}", "f.yaml")


def test_no_yaml_object_is_ever_constructed(monkeypatch):
    def never(*_):
        raise AssertionError("constructed")

    monkeypatch.setattr(yaml.constructor.BaseConstructor, "construct_document", never)
    assert parse_yaml("a: {b: [1, 2]}", "f").data == {"a": {"b": [1, 2]}}


def bomb(levels):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        inside = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} [{inside}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (bomb(9), f"unfolds to more than {MAX_VALUES} values"),
        ("a: &a [*a]", f"nested deeper than {MAX_DEPTH} levels"),
        ("a: &a {b: *a}", f"nested deeper than {MAX_DEPTH} levels"),
        ("a: " + "[" * 100_000, f"nested deeper than {MAX_DEPTH} levels"),
        ("[\n" * 50_000, f"nested deeper than {MAX_DEPTH} levels"),
        ("{a: " * 40_000, f"nested deeper than {MAX_DEPTH} levels"),
        ("\n".join(f"k{i}: 1" for i in range(MAX_VALUES + 1)), "unfolds to more than"),
    ],
    ids=["aliases", "circle", "circle of mappings", "brackets", "lines", "braces", "keys"],
)
def test_what_unfolds_without_end_is_refused_at_the_bound(text, message):
    assert message in fault(text)


def test_a_string_of_a_gigabyte_is_not_even_read(tmp_path):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.write(b"name: '")
        file.truncate(2**30)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="larger than 256 KiB"):
            read_yaml(path)
        assert tracemalloc.get_traced_memory()[1] < 4 * MAX_BYTES
    finally:
        tracemalloc.stop()


def test_the_size_limit_is_exact(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("#" * (MAX_BYTES - 1) + "\n")
    assert read_yaml(path).data == {}
    path.write_text("#" * MAX_BYTES + "\n")
    with pytest.raises(InputError, match="larger than"):
        read_yaml(path)


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_yaml(tmp_path / "missing.yaml")
    with pytest.raises(InputError, match="not a plain file"):
        read_yaml(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a plain file"):
        read_yaml(pipe)
    bytes_ = tmp_path / "bytes.yaml"
    bytes_.write_bytes(b"a: \xff\xfe")
    with pytest.raises(InputError, match=r"not UTF-8 text \(byte 3\)"):
        read_yaml(bytes_)


@given(st.text(alphabet="ab:{}[]&*!-#'\"\n\t ?|>,%@`0\\é\x07", max_size=60))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        assert isinstance(parse_yaml(text, "f").data, dict)


@pytest.mark.parametrize("text", ["[1", "!!python/name:os.system", "{a: 1, a: 2}", "'"])
def test_a_broken_value_names_its_setting(text):
    with pytest.raises(InputError, match=r"^--set a"):
        parse_value(text, "--set a")


def test_a_value_is_bounded():
    with pytest.raises(InputError, match="--set a: longer than"):
        parse_value("x" * (MAX_BYTES + 1), "--set a")


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**63, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
    | st.sampled_from(["on", "off", "1e5", "010", "~", "null", "true", "1:30", "", " x ", "a\nb"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abcxyz", min_size=1, max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=4) | st.integers(0, 9), PLAIN))
def test_what_is_written_is_read_back_equal(data):
    assert parse_yaml(write_yaml(data), "f").data == data
