"""Deaths: what was begun and never ended, and which of it is quarantined."""

import pytest

from virsci_society.agents.errors import Stopped
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Request
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.study.status import (
    FURTHER,
    QUARANTINE,
    count_crashes,
    record_begin,
    record_end,
)

ME = Profile("Scientist0", (), ("graphs",), papers=1, citations=0)


class Words(Form):
    text: str


@pytest.fixture
def run(tmp_path):
    """A run folder with a journal that can be told how far it came."""
    folder = tmp_path / "runs" / "0007"

    class Run:
        path = folder

        def come(self, calls):
            """Keep as many answers as are missing to so many."""
            folder.mkdir(parents=True, exist_ok=True)
            with Journal.open(folder / "journal.sqlite") as journal:
                for number in range(journal.unreplayed, calls):
                    journal.store_outcome(
                        Request(f"call-{number}", ME, (), Words), CallOutcome("answer", "{}")
                    )

    return Run()


def test_a_run_that_was_never_begun_has_not_died(run):
    assert count_crashes(run.path) == 0


def test_three_deaths_at_one_place_are_three(run):
    for number in range(QUARANTINE):
        assert count_crashes(run.path) == number
        record_begin(run.path, "worker 1\nof host")
    assert count_crashes(run.path) == QUARANTINE == 3
    assert not run.path.exists()


def test_a_clean_end_is_no_death_and_clears_the_earlier_ones(run):
    for _ in range(2):
        record_begin(run.path)
    assert count_crashes(run.path) == 2
    record_begin(run.path)
    record_end(run.path)
    assert count_crashes(run.path) == 0
    record_begin(run.path)
    assert count_crashes(run.path) == 1


def test_a_run_that_came_further_each_time_is_unlucky_and_no_poison(run):
    for life in range(1, 6):
        record_begin(run.path)
        run.come(life * (FURTHER + 1))
        assert count_crashes(run.path) == 1


def test_a_poison_run_dies_at_the_same_place_whatever_was_under_way(run):
    for life in range(3):
        assert count_crashes(run.path) == life
        record_begin(run.path)
        run.come(200 + life * FURTHER // 2)
    assert count_crashes(run.path) == 3


def test_progress_between_deaths_begins_the_count_anew(run):
    record_begin(run.path)
    record_begin(run.path)
    assert count_crashes(run.path) == 2
    record_begin(run.path)
    run.come(FURTHER + 1)
    assert count_crashes(run.path) == 1
    record_begin(run.path)
    assert count_crashes(run.path) == 2


def test_deleting_the_note_is_a_way_back(run):
    for _ in range(3):
        record_begin(run.path)
    (run.path.parent / "0007.begun").unlink()
    assert count_crashes(run.path) == 0


def test_the_note_tells_who_began_it(run):
    record_begin(run.path, "process 12 on host-a")
    run.come(5)
    record_begin(run.path, "process 9 on host-b")
    note = (run.path.parent / "0007.begun").read_text()
    assert note == "begun 0 process 12 on host-a\nbegun 5 process 9 on host-b\n"


def test_a_damaged_note_is_read_as_far_as_it_goes(run):
    (run.path.parent).mkdir(parents=True)
    (run.path.parent / "0007.begun").write_bytes(
        b"begun 0 a\nbegun\nbegu\n\xff\xfe\nbegun x\nbegun 0"
    )
    assert count_crashes(run.path) == 2


def test_a_journal_that_cannot_be_read_counts_as_no_progress(run):
    record_begin(run.path)
    run.path.mkdir(parents=True)
    (run.path / "journal.sqlite").write_bytes(b"no journal" * 100)
    assert count_crashes(run.path) == 1


def test_a_note_that_cannot_be_written_is_a_stop(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Stopped, match="cannot be written"):
        record_begin(tmp_path / "file" / "0000")
