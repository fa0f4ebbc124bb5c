"""The command ``society export prompts``."""

from pathlib import Path

from tests.command_line import society


def test_the_prompts_of_a_scenario_are_written(small, here):
    done = society("export", "prompts", "small.yaml", "--teams", 1)
    assert done.exit_code == 0, done.stderr
    target = Path("prompts/small-3.md")
    number = target.read_text(encoding="utf-8").count("\n### Call ")
    assert f"{number} prompts: {target}" in done.stdout
    assert "rule-based scientists, not a language model" in done.stdout
    assert "tokens by page" in done.stdout
    again = society("export", "prompts", "small.yaml", "--seed", 4, "--out", target)
    assert again.exit_code == 0, again.stderr


def test_the_prompts_of_a_run_are_written(small_run, here):
    done = society("export", "prompts", small_run)
    assert done.exit_code == 0, done.stderr
    assert (here / "prompts" / f"{small_run.name}.md").is_file()


def test_what_cannot_be_listed_is_refused(small, small_run, here):
    for source, more, message in (
        ("small.yaml", ("--out", "small.yaml"), "is another file"),
        (small_run, ("--seed", 3), "this is a run"),
    ):
        done = society("export", "prompts", source, *more)
        assert done.exit_code == 2
        assert message in done.stderr
    assert not Path("prompts").exists()
