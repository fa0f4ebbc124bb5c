"""The folder of an inbox: complete answers only, and nothing through a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.agents.people.inbox_requests import request
from virsci_society.agents.errors import InputError
from virsci_society.agents.people.folder import (
    MAX_BYTES,
    SHOWN,
    QuestionFolder,
    read_questions,
    write_answer,
)


@pytest.fixture
def inbox(tmp_path: Path) -> QuestionFolder:
    return QuestionFolder(tmp_path / "inbox")


def answer_file(inbox: QuestionFolder, stem: str, suffix: str = ".md") -> Path:
    return inbox.path / "answers" / f"{stem}{suffix}"


def look(inbox: QuestionFolder, stem: str, times: int = 1) -> str | None:
    """What the last of some looks finds."""
    for _ in range(times):
        found = inbox.complete_answers([stem]).get(stem)
    return found


def test_a_question_is_one_file_however_often_it_is_asked(inbox: QuestionFolder) -> None:
    stem = inbox.write_question(request())
    assert stem.startswith("0001-Scientist3-1-topic-1-2-0-utter-Scientist7-")
    assert inbox.write_question(request()) == stem
    assert QuestionFolder(inbox.path).write_question(request()) == stem
    other = QuestionFolder(inbox.path).write_question(request(attempt=1))
    assert other.startswith("0002-")
    assert sorted(os.listdir(inbox.path / "questions")) == [f"{stem}.md", f"{other}.md"]


def test_a_question_that_was_changed_or_removed_is_written_again(inbox: QuestionFolder) -> None:
    stem = inbox.write_question(request())
    file = inbox.path / "questions" / f"{stem}.md"
    whole = file.read_text(encoding="utf-8")
    file.write_text("something else")
    inbox.write_question(request())
    assert file.read_text(encoding="utf-8") == whole
    file.unlink()
    inbox.write_question(request())
    assert file.read_text(encoding="utf-8") == whole


@pytest.mark.parametrize("suffix", [".md", ".txt", ".json"])
def test_an_answer_is_complete_at_the_second_look(inbox: QuestionFolder, suffix: str) -> None:
    stem = inbox.write_question(request())
    assert look(inbox, stem, 3) is None
    answer_file(inbox, stem, suffix).write_text("yes", encoding="utf-8")
    assert look(inbox, stem) is None
    assert look(inbox, stem) == "yes"


def test_a_half_written_answer_is_waited_for(inbox: QuestionFolder) -> None:
    stem = inbox.write_question(request())
    whole = "one and another, and a third"
    with answer_file(inbox, stem).open("w", encoding="utf-8") as file:
        assert look(inbox, stem, 3) is None
        for start in range(0, len(whole), 7):
            file.write(whole[start : start + 7])
            file.flush()
            assert look(inbox, stem) is None
    assert look(inbox, stem) == whole


def test_an_answer_may_be_renamed_into_place(inbox: QuestionFolder) -> None:
    stem = inbox.write_question(request())
    draft = answer_file(inbox, stem, ".draft")
    draft.write_text("yes")
    assert look(inbox, stem, 3) is None
    draft.rename(answer_file(inbox, stem))
    assert look(inbox, stem, 2) == "yes"


def test_a_mark_of_the_byte_order_is_left_out(inbox: QuestionFolder) -> None:
    stem = inbox.write_question(request())
    answer_file(inbox, stem).write_text("é", encoding="utf-8-sig")
    assert look(inbox, stem, 2) == "é"


@pytest.mark.parametrize("content", ["", "  \n\t"])
def test_an_empty_answer_is_none_yet(inbox: QuestionFolder, content: str) -> None:
    stem = inbox.write_question(request())
    answer_file(inbox, stem).write_text(content)
    assert look(inbox, stem, 3) is None
    assert inbox.refused == {}


def plant_link(file: Path, secret: Path) -> None:
    file.symlink_to(secret)


def plant_dangling_link(file: Path, secret: Path) -> None:
    file.symlink_to(secret.with_name("nothing"))


def plant_second_name(file: Path, secret: Path) -> None:
    os.link(secret, file)


def plant_pipe(file: Path, secret: Path) -> None:
    os.mkfifo(file)


def plant_folder(file: Path, secret: Path) -> None:
    file.mkdir()


def plant_too_much(file: Path, secret: Path) -> None:
    file.write_bytes(b"x" * (MAX_BYTES + 1))


def plant_fifty_megabytes(file: Path, secret: Path) -> None:
    with file.open("wb") as grown:
        grown.truncate(50_000_000)


def plant_other_encoding(file: Path, secret: Path) -> None:
    file.write_text("yes", encoding="utf-16")


def plant_blanks(file: Path, secret: Path) -> None:
    file.write_text(" \n")


def plant_nothing_yet(file: Path, secret: Path) -> None:
    file.touch()


@pytest.mark.parametrize(
    ("plant", "why"),
    [
        (plant_link, "is a link"),
        (plant_dangling_link, "is a link"),
        (plant_second_name, "is a second name of another file"),
        (plant_pipe, "is no plain file"),
        (plant_folder, "is no plain file"),
        (plant_too_much, "is larger than 1,000,000 bytes"),
        (plant_other_encoding, "is not text in UTF-8"),
    ],
)
def test_what_is_no_answer_is_named_and_not_read(inbox, tmp_path, plant, why) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    stem = inbox.write_question(request())
    plant(answer_file(inbox, stem, ".json"), secret)
    assert look(inbox, stem, 3) is None
    assert why in inbox.refused[stem]
    inbox.write_index([stem])
    page = (inbox.path / "index.html").read_text(encoding="utf-8")
    assert why in page
    assert "the secret" not in page
    # It keeps nobody from answering.
    answer_file(inbox, stem, ".md").write_text("yes")
    assert look(inbox, stem, 2) == "yes"
    assert inbox.refused == {}
    assert secret.read_text() == "the secret"


@pytest.mark.parametrize(
    "plant",
    [
        plant_link,
        plant_second_name,
        plant_pipe,
        plant_folder,
        plant_fifty_megabytes,
        plant_other_encoding,
        plant_blanks,
        plant_nothing_yet,
    ],
)
def test_a_question_whose_file_is_no_answer_is_open_for_whoever_looks_at_it(
    inbox, tmp_path, plant
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    stem = inbox.write_question(request())
    plant(answer_file(inbox, stem), secret)
    inbox.write_index(())
    page = (inbox.path / "index.html").read_text(encoding="utf-8")
    assert "not waited for now: 1</h2>" in page
    assert "<h2>Answered: 0</h2>" in page
    assert [answer for _, answer in read_questions(inbox.path).values()] == [""]
    write_answer(inbox.path, stem, "yes")
    assert [answer for _, answer in read_questions(inbox.path).values()] == ["yes"]
    assert look(inbox, stem, 2) == "yes"
    inbox.write_index(())
    assert "<pre>yes</pre>" in (inbox.path / "index.html").read_text(encoding="utf-8")
    assert secret.read_text() == "the secret"


@pytest.mark.parametrize(
    "name", ["index.html", "index.html.unfinished", "questions/{}.md", "questions/{}.md.unfinished"]
)
def test_nothing_is_written_through_a_link(inbox, tmp_path, name) -> None:
    secret = tmp_path / "secret"
    stem = inbox.write_question(request())
    secret.write_text("the secret")
    planted = inbox.path / name.format(stem)
    (inbox.path / "questions" / f"{stem}.md").unlink()
    planted.symlink_to(secret)
    inbox.write_question(request())
    inbox.write_index([stem])
    assert secret.read_text() == "the secret"
    for written in (inbox.path / "index.html", inbox.path / "questions" / f"{stem}.md"):
        assert not written.is_symlink()
        assert "What now?" in written.read_text(encoding="utf-8")
        assert "the secret" not in written.read_text(encoding="utf-8")


@pytest.mark.parametrize("part", ["questions", "answers"])
def test_a_folder_that_is_a_link_is_not_used(inbox, tmp_path, part) -> None:
    stem = inbox.write_question(request())
    elsewhere = (inbox.path / part).rename(tmp_path / "elsewhere")
    (inbox.path / part).symlink_to(elsewhere)
    before = sorted(os.listdir(elsewhere))
    with pytest.raises(InputError, match=f"{part}: is a symbolic link"):
        QuestionFolder(inbox.path)
    use = {
        "questions": lambda: inbox.write_question(request(attempt=1)),
        "answers": lambda: inbox.complete_answers([stem]),
    }
    with pytest.raises(OSError, match=part):
        use[part]()
    with pytest.raises(OSError, match=part):
        inbox.write_index([stem])
    assert sorted(os.listdir(elsewhere)) == before


def test_a_path_that_is_a_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "inbox").write_text("")
    with pytest.raises(InputError, match=r"backend\.path: .*inbox.*; give a folder"):
        QuestionFolder(tmp_path / "inbox")


def test_the_page_shows_what_is_open_what_is_answered_and_what_nobody_asks(inbox) -> None:
    stems = [inbox.write_question(request(attempt=number)) for number in range(4)]
    answer_file(inbox, stems[0]).write_text("<script>alert(1)</script>")
    answer_file(inbox, stems[2]).write_text("written, but not taken up yet")
    inbox.write_index(stems[1:3])
    page = (inbox.path / "index.html").read_text(encoding="utf-8")
    places = [
        page.index(text)
        for text in (
            "<h2>Open: 2</h2>",
            f'"questions/{stems[1]}.md"',
            f'"questions/{stems[2]}.md"',
            "not waited for now: 1</h2>",
            f'"questions/{stems[3]}.md"',
            "<h2>Answered: 1</h2>",
            f'"questions/{stems[0]}.md"',
            f'"answers/{stems[0]}.md"',
            "&lt;script&gt;alert(1)&lt;/script&gt;",
        )
    ]
    assert places == sorted(places)
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_of_many_answers_the_page_shows_the_latest_and_links_all(inbox) -> None:
    for number in range(SHOWN + 2):
        stem = inbox.write_question(request(attempt=number))
        answer_file(inbox, stem).write_text(f"answer {number}.")
    inbox.write_index(())
    page = (inbox.path / "index.html").read_text(encoding="utf-8")
    assert f"<h2>Answered: {SHOWN + 2}</h2>" in page
    assert page.count('href="answers/') == SHOWN + 2
    shown = [number for number in range(SHOWN + 2) if f"<pre>answer {number}.</pre>" in page]
    assert shown == list(range(2, SHOWN + 2))
