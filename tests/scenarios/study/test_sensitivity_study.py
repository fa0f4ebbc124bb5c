"""Sampled designs by the command, where the right answer is known."""

import pandas as pd
import pytest

from virsci_society.scenarios.study.reader import read_study

KNOWN = """\
# Which keys move the number of calls? Of one scientist alone, its turns do and its delay does not.
study: Known
base: virsci/paper
set:
  protocol: {team_size: 1, topic: {leaving: off}, discussion: {invitation: off}}
  population.ecosystem: {scientists: 8, papers: 40}
  metrics: [cost]
arms:
  DESIGN
replicates: 1
measures: [inference_cost, days_to_paper]
"""
OVER = "over: {protocol.turns: [1, 4], time.publication_delay: [10d, 40d]}"
DESIGNS = {
    "morris": f"morris: {{samples: 2, {OVER}}}",
    "sobol": f"sobol: {{samples: 4, {OVER}}}",
}


@pytest.mark.slow
@pytest.mark.parametrize("design", ["morris", "sobol"])
def test_the_command_finds_the_one_key_that_matters(nursery, tmp_path, design):
    def society(*arguments):
        done = nursery.society(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "it.yaml").write_text(KNOWN.replace("DESIGN", DESIGNS[design]))
    runs = {"morris": 2 * 3, "sobol": 4 * 4}[design]
    assert f"= {runs} runs" in society("study", "plan", "it.yaml")
    society("study", "lock", "it.yaml", "--out", "it")
    society("study", "run", "it.yaml", "--out", "it", "--jobs", "1")
    assert "nothing to do" in society("study", "run", "it.yaml", "--out", "it")
    society("study", "report", "it")
    table = pd.read_csv(tmp_path / f"it/report/{design}.csv").set_index(["measure", "key"])
    cost, delay = ("inference_cost", "protocol.turns"), ("inference_cost", "time.publication_delay")
    if design == "morris":
        # Four stages of one scientist: four calls more for each turn, whatever the delay. The
        # levels of one to four turns are a turn apart; an effect is over the whole range.
        assert table.loc[cost, ["mu", "mu_star", "sigma"]].tolist() == pytest.approx([12, 12, 0])
        assert table.loc[delay, ["mu", "mu_star", "sigma"]].tolist() == [0, 0, 0]
    else:
        assert table.loc[delay, ["first", "total"]].tolist() == [0, 0]
        assert table.loc[cost, "total"] > 0.4
    page = (tmp_path / "it/report.html").read_text()
    assert f'<td class="words">{delay[1]}</td>' in page


def test_the_study_of_assumed_times_moves_what_nobody_has_measured():
    design = read_study("sensitivity")
    assert design.file.arms.morris.over["time.reply_window"] == (2.0, 28.0)
    assert len(design.arms) == 6 * 5
    assert {one.until for one in design.scenarios} == {365.0}
