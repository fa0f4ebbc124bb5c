"""The command ``society export prompts``."""

from pathlib import Path

import pytest

from tests.command_line import society


def test_the_prompts_of_a_scenario_are_written(small, here):
    done = society("export", "prompts", "small.yaml", "--teams", 1)
    assert done.exit_code == 0, done.stderr
    folder = Path("prompts/small-3")
    pages = list((folder / "pages").iterdir())
    assert f"{len(pages)} prompts: {folder / 'index.html'}" in done.stdout
    assert "rule-based scientists, not a language model" in done.stdout
    assert "tokens by stage" in done.stdout
    assert "tokens by page" in done.stdout
    again = society("export", "prompts", "small.yaml", "--seed", 4, "--out", folder)
    assert again.exit_code == 0, again.stderr


def test_the_prompts_of_a_run_are_written(small_run, here):
    done = society("export", "prompts", small_run)
    assert done.exit_code == 0, done.stderr
    assert (here / "prompts" / small_run.name / "index.html").is_file()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--team", "a", "--teams", "1"], "--team and --teams are both given"),
        (["--team", "a"], "--team: no team a asks anything"),
        (["--set", "protocol.trns=2"], "unknown key"),
        (["--out", "."], "holds other files"),
    ],
)
def test_bad_input_is_named(small, here, more, message):
    done = society("export", "prompts", "small.yaml", *more)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not Path("prompts").exists()


def test_a_run_takes_no_settings(small_run, here):
    done = society("export", "prompts", small_run, "--seed", 3)
    assert done.exit_code == 2
    assert "this is a run" in done.stderr
