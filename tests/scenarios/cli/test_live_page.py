"""Every command of the page on language models runs, one after another, against real HTTP."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.faultserver import FaultServer, Plan
from virsci_society.scenarios.cli.app import app

PAGE = (Path(__file__).parents[3] / "docs" / "live.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.slow
def test_the_commands_of_the_page_run(here, small_text, no_results):
    yaml = blocks("yaml")[0]
    (here / "small.yaml").write_text(small_text.replace("seed: 3", "seed: 1"), encoding="utf-8")
    with FaultServer(Plan()) as server:
        mine = yaml.replace("quickstart", "small.yaml").replace("llama3.1", "test")
        mine = re.sub(r"http://\S+", server.url, mine)
        (here / "mine.yaml").write_text(mine, encoding="utf-8")
        # The others run the quickstart with servers of others: ``tests/test_docs.py`` tries them.
        mine_alone = [line for line in "".join(blocks("sh")).splitlines() if "mine" in line]
        assert len(mine_alone) > 5
        for line in mine_alone:
            asked = server.counts()["requests"]
            done = CliRunner().invoke(app, shlex.split(line)[1:])
            assert done.exit_code == 0, (line, done.output)
            if "replay" in line or line == "society plan mine.yaml":
                assert server.counts()["requests"] == asked
        assert server.counts()["answers"] > 0


@pytest.mark.parametrize("code", ["2", "4", "5", "6"])
def test_the_exit_codes_of_the_page_are_those_of_the_errors(code):
    from virsci_society.agents import errors

    codes = {str(one.exit_code) for one in vars(errors).values() if hasattr(one, "exit_code")}
    assert code in codes
    assert f"\n| {code} |" in PAGE
