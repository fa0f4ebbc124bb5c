"""The lines of ``society show``: in the width of the terminal, and read from the summary."""

import io
import sys

import pytest

from tests.scenarios.cli.test_app import imported
from virsci_society.metrics.summary_file import read_summary
from virsci_society.scenarios.cli.overview import brief_lines, show
from virsci_society.society.results.run import Run


class Terminal(io.StringIO):
    """A terminal that keeps what is printed."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """The output, as a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


def test_show_fits_the_terminal(small_run, terminal, monkeypatch):
    monkeypatch.setattr(sys, "stdout", terminal)
    show(small_run)
    lines = terminal.getvalue().splitlines()
    told = [line for line in lines if "digest" not in line and str(small_run) not in line]
    assert all(len(line) <= 80 for line in told)
    assert any(line.startswith(" " * 22) for line in told)
    assert f"  digest              {Run.open(small_run).digest}" in lines


def test_invitations_add_up_and_what_was_not_measured_is_left_out(small_run):
    summary = dict(read_summary(small_run))
    invited = summary["invitations"]
    parts = ("accepted", "declined", "full", "unanswered")
    assert sum(invited[name] for name in parts) == invited["sent"]
    told = "\n".join(brief_lines(summary, "."))
    assert f"limit, {invited['unanswered']} without an answer" in told
    assert " a scientist at a time" in told
    summary |= {"max_memberships": 0, "consultations": 0}
    assert "overlap" not in "\n".join(brief_lines(summary, "."))


def test_show_reads_no_table(small_run):
    """Modules are counted; with the tables and pandas there are more than 1,000."""
    assert len(imported("show", str(small_run))) < 600
