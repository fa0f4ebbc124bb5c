"""Typical mistakes: none prints a traceback, and every answer says what to type."""

import pytest

from tests.scenarios.cli import mistakes
from tests.scenarios.cli.mistakes import MISTAKES, make


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run of one small team."""
    return mistakes.make_run(tmp_path_factory.mktemp("tiny"))


def test_there_are_sixty_mistakes_each_with_what_to_look_for():
    assert len(MISTAKES) >= 60
    assert len({one.what for one in MISTAKES}) == len(MISTAKES)
    assert all(one.says and all(one.says) for one in MISTAKES)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.what)
def test_a_mistake_is_answered(mistake, run, tmp_path):
    done = make(mistake, tmp_path, run)
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == mistake.code
    assert "Traceback" not in done.output
    told = " ".join(done.output.split())
    for part in mistake.says:
        assert part in told
