"""The list of hashes of a folder: changed, missing and unlisted files, and the list itself."""

import json

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import (
    HASHES,
    check_file,
    read_hashes,
    rewriting,
    signed,
    unsigned,
    update_hashes,
    write_hashes,
)


@pytest.fixture
def folder(tmp_path):
    """Two files that are listed, one that is written after the list, and one that is not listed."""
    (tmp_path / "sub").mkdir()
    for name in ("a", "sub/b", "free"):
        (tmp_path / name).write_text(name)
    write_hashes(tmp_path, [tmp_path / "a", tmp_path / "sub" / "b"], {"last": "the last"})
    (tmp_path / "last").write_text("the last")
    return tmp_path


def test_files_as_they_were_written(folder):
    assert read_hashes(folder).check_all() == 3
    assert check_file(folder / "free") == folder / "free"


@pytest.mark.parametrize("name", ["a", "sub/b", "last"])
def test_a_changed_file_is_named(folder, name):
    (folder / name).write_text("other")
    with pytest.raises(InputError, match=f"{name}: was changed or damaged"):
        read_hashes(folder).check_all()
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{name}: is missing"):
        read_hashes(folder).check_all()


def test_what_is_written_later_is_put_into_the_list(folder, tmp_path):
    (folder / "a").write_text("new")
    (folder / "free").write_text("newer")
    update_hashes(folder, [folder / "a", folder / "free"])
    assert read_hashes(folder).check_all() == 4
    (folder / HASHES).unlink()
    update_hashes(folder, [folder / "a"])
    assert read_hashes(folder) is None


@pytest.mark.parametrize("change", ["{", "[]", "{}", '{"files": {}, "format": 1, "hash": "x"}'])
def test_a_changed_list_is_refused(folder, change):
    (folder / HASHES).write_text(change)
    with pytest.raises(InputError, match=HASHES):
        read_hashes(folder)


def test_data_that_bears_its_own_hash():
    data = signed(json.loads(json.dumps(signed({"a": 1}))) | {"b": [2]})
    assert unsigned(data) == {"a": 1, "b": [2]}
    assert unsigned({"a": 1}) == {"a": 1}
    with pytest.raises(ValueError, match="its own hash"):
        unsigned(data | {"a": 2})


def test_a_file_that_is_written_anew_is_in_no_list_until_it_is_there(folder):
    with rewriting(folder / "a"):
        assert "a" not in read_hashes(folder).files
        (folder / "a").write_text("other")
    assert read_hashes(folder).check_all() == 3

    def killed():
        with rewriting(folder / "a"):
            (folder / "a").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        killed()
    assert read_hashes(folder).check_all() == 2


def test_a_folder_without_a_list_gets_none(tmp_path):
    with rewriting(tmp_path / "page"):
        (tmp_path / "page").write_text("page")
    assert read_hashes(tmp_path) is None
