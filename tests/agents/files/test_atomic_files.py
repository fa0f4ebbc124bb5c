"""Files appear whole or not at all, and nothing is written or read through a link."""

import errno
import os

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    lock_file,
    open_in_place,
    open_new,
    read_plain_text,
    refuse_links,
    remove_folder,
    replacing,
    require_regular_file,
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
    """Put a link or a pipe where the program writes."""
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(outside / {"file": "secret", "dangling": "new", "folder": ""}[kind])


KINDS = ["file", "dangling", "folder", "pipe"]
USES = {
    "whole": lambda path: write_atomically(path, "new"),
    "shared": lambda path: write_atomically(path, "new", shared=True),
    "append": lambda path: open_in_place(path, "a").close(),
    "append bytes": lambda path: open_in_place(path, "a+b").close(),
    "change": lambda path: open_in_place(path, "r+b").close(),
    "lock": lambda path: lock_file(path).acquire(),
    "read": read_plain_text,
    "require": require_regular_file,
    "look ahead": lambda path: refuse_links(path.parent),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", USES)
def test_nothing_is_written_or_read_through_what_is_planted(own, outside, kind, name):
    plant(own / "file", kind, outside)
    with pytest.raises(InputError, match="own/file: is "):
        USES[name](own / "file")


def test_a_folder_that_is_a_link_is_refused_and_never_emptied(own, outside):
    (own / "folder").symlink_to(outside)
    for use in (refuse_links, remove_folder):
        with pytest.raises(InputError, match="own/folder: is a symbolic link"):
            use(own / "folder")


def test_the_look_ahead_goes_so_deep(own, outside):
    (own / "a" / "b").mkdir(parents=True)
    refuse_links(own)
    refuse_links(own / "nothing")
    plant(own / "a" / "b" / "link", "dangling", outside)
    refuse_links(own, 2)
    with pytest.raises(InputError, match="a/b/link: is a symbolic link"):
        refuse_links(own)


def test_what_a_killed_writer_has_left_is_removed(own):
    (own / "file.unfinished").mkdir()
    (own / "file.unfinished" / "file").write_text("half")
    write_atomically(own / "file", "whole", durable=True)
    assert [path.name for path in own.iterdir()] == ["file"]
    assert (own / "file").read_text() == "whole"


def test_where_the_writer_fails_the_target_is_unchanged(own):
    write_atomically(own / "file", "old")
    with pytest.raises(FileNotFoundError), replacing(own / "file"):
        (own / "nothing").unlink()
    assert [path.name for path in own.iterdir()] == ["file"]
    assert (own / "file").read_text() == "old"


@pytest.mark.parametrize("name", [None, "page.html.unfinished/page.html"])
def test_where_there_is_no_room_the_target_is_named(own, name):
    target, file = own / "page.html", name and str(own / name)
    with pytest.raises(OSError, match="No space") as error, replacing(target):
        raise OSError(errno.ENOSPC, "No space left on device", file)
    assert error.value.filename == str(target)
    assert list(own.iterdir()) == []


def test_a_new_file_is_never_an_old_one(own, outside):
    plant(own / "file", "dangling", outside)
    with pytest.raises(FileExistsError):
        open_new(own / "file")


def test_files_that_a_killed_command_can_have_left_are_not_those_of_others(tmp_path):
    folder = tmp_path / "new"
    assert not holds_others(folder, "lock.json")
    folder.mkdir()
    (folder / "lock.json.unfinished").mkdir()
    (folder / "lock.json.lock").touch()
    assert not holds_others(folder, "lock.json")
    (folder / "notes.txt").touch()
    assert holds_others(folder, "lock.json")
