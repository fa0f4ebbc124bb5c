"""Files appear whole or not at all, and nothing is written or read through a link."""

import os

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    lock_file,
    make_folder,
    open_in_place,
    open_new,
    open_plain,
    refuse_links,
    remove_file,
    remove_folder,
    replacing,
    write_atomically,
)


@pytest.fixture
def outside(tmp_path):
    """A folder with one file that nobody may change."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("the secret")
    yield folder
    assert [path.name for path in folder.iterdir()] == ["secret"]
    assert (folder / "secret").read_text() == "the secret"


@pytest.fixture
def own(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


def plant(path, kind, outside):
    """Put a link, a pipe or a second name where the program writes."""
    if kind == "absolute":
        path.symlink_to(outside / "secret")
    elif kind == "relative":
        path.symlink_to(os.path.relpath(outside / "secret", path.parent))
    elif kind == "dangling":
        path.symlink_to(outside / "new")
    elif kind == "folder":
        path.symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        os.link(outside / "secret", path)


KINDS = ["absolute", "relative", "dangling", "folder", "pipe"]
WRITES = {
    "whole": lambda path: write_atomically(path, "new"),
    "shared": lambda path: write_atomically(path, "new", shared=True),
    "append": lambda path: open_in_place(path, "a").close(),
    "append bytes": lambda path: open_in_place(path, "a+b").close(),
    "change": lambda path: open_in_place(path, "r+b").close(),
    "lock": lambda path: lock_file(path).acquire(),
    "read": lambda path: open_plain(path).close(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_written_or_read_through_what_is_planted(own, outside, kind, name):
    plant(own / "file", kind, outside)
    with pytest.raises(InputError, match="own/file: is "):
        WRITES[name](own / "file")


@pytest.mark.parametrize("name", ["append", "append bytes", "change", "lock"])
def test_a_second_name_is_not_changed_in_place(own, outside, name):
    plant(own / "file", "hard link", outside)
    with pytest.raises(InputError, match="second name"):
        WRITES[name](own / "file")


def test_a_second_name_is_replaced(own, outside):
    plant(own / "file", "hard link", outside)
    write_atomically(own / "file", "new")
    assert (own / "file").read_text() == "new"


@pytest.mark.parametrize("kind", KINDS)
def test_the_private_folder_is_no_way_out(own, outside, kind):
    plant(own / "file.unfinished", kind, outside)
    with pytest.raises(InputError, match=r"file\.unfinished: is "):
        write_atomically(own / "file", "new")
    (own / "file.unfinished").unlink()
    (own / "file.unfinished").mkdir()
    plant(own / "file.unfinished" / "file", kind, outside)
    with pytest.raises(InputError, match=r"file\.unfinished/file: is "):
        write_atomically(own / "file", "new")
    assert not (own / "file").exists()


FOLDERS = {
    "whole": lambda path, within: write_atomically(path / "file", "new", within=within),
    "new": lambda path, within: open_new(path / "file", within=within),
    "append": lambda path, within: open_in_place(path / "file", "a", within=within),
    "read": lambda path, within: open_plain(path / "secret", within=within),
    "make": lambda path, within: make_folder(path / "more", within=within),
    "remove": lambda path, within: remove_file(path / "secret", within=within),
    "remove folder": lambda path, within: remove_folder(path, within=within),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_below_the_strangers_is_no_link(own, outside, name):
    (own / "sub").mkdir()
    (own / "sub" / "deep").symlink_to(outside)
    with pytest.raises(InputError, match="sub/deep: is a symbolic link"):
        FOLDERS[name](own / "sub" / "deep", own)


def test_the_path_of_the_folder_itself_is_the_users(own, tmp_path):
    (tmp_path / "short").symlink_to(own)
    write_atomically(tmp_path / "short" / "file", "new")
    make_folder(tmp_path / "short" / "sub", within=tmp_path / "short")
    write_atomically(tmp_path / "short" / "sub" / "file", "new", within=tmp_path / "short")
    assert (own / "sub" / "file").read_text() == "new"


def test_what_a_killed_writer_has_left_is_removed(own):
    (own / "file.unfinished").mkdir()
    (own / "file.unfinished" / "file").write_text("half")
    write_atomically(own / "file", "whole")
    (own / "other.unfinished").write_text("of an old release")
    write_atomically(own / "other", "whole")
    assert sorted(path.name for path in own.iterdir()) == ["file", "other"]


def test_where_the_writer_fails_the_target_stays(own):
    write_atomically(own / "file", "old")
    with pytest.raises(FileNotFoundError), replacing(own / "file"):
        (own / "nothing").unlink()
    assert [path.name for path in own.iterdir()] == ["file"]
    assert (own / "file").read_text() == "old"


def test_a_new_file_is_never_an_old_one(own, outside):
    plant(own / "file", "dangling", outside)
    with pytest.raises(FileExistsError):
        open_new(own / "file")


def test_a_link_can_be_replaced_where_anybody_may_put_one(own, outside):
    for name in ("file", "file.unfinished"):
        plant(own / name, "absolute", outside)
    write_atomically(own / "file", "new", over_links=True)
    assert not (own / "file").is_symlink()


def test_a_look_ahead_names_what_is_no_plain_file(own, outside):
    (own / "a" / "b").mkdir(parents=True)
    refuse_links(own)
    refuse_links(own / "nothing")
    plant(own / "a" / "b" / "link", "dangling", outside)
    refuse_links(own, 2)
    with pytest.raises(InputError, match="a/b/link: is a symbolic link"):
        refuse_links(own)


def test_files_that_a_killed_command_can_have_left_are_not_those_of_others(tmp_path):
    folder = tmp_path / "new"
    assert not holds_others(folder, "lock.json")
    folder.mkdir()
    (folder / "lock.json.unfinished").mkdir()
    (folder / "lock.json.lock").touch()
    assert not holds_others(folder, "base.yaml", "lock.json")
    assert holds_others(folder, "base.yaml")
    assert holds_others(folder)
    (folder / "thesis.tex").touch()
    assert holds_others(folder, "base.yaml", "lock.json")
