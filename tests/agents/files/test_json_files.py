"""JSON files of strangers: one error, whatever is in them."""

import json

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.json_files import parse_json, read_json, read_json_object

HOSTILE = {
    "deep": b"[" * 200_000,
    "huge number": b"1" * 100_000,
    "utf-16": "{}".encode("utf-16"),
    "cut": b'{"a": ',
    "binary": bytes(range(256)),
    "empty": b"",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_bad_input(tmp_path, content):
    path = tmp_path / "manifest.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"manifest\.json: cannot be read: "):
        read_json(path)


def test_a_folder_or_another_value_is_bad_input(tmp_path):
    with pytest.raises(InputError):
        read_json(tmp_path)
    path = tmp_path / "list.json"
    path.write_text("[1]")
    assert read_json(path) == [1]
    with pytest.raises(InputError, match="not a JSON object"):
        read_json_object(path)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "none.json")
    assert parse_json(json.dumps({"a": 1}), "x") == {"a": 1}
