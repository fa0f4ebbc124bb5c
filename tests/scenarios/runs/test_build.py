"""From Python: ten lines, a running event loop, and Mesa's batch_run."""

import asyncio
import inspect

import pytest

from tests.mesa_batch import batch_run
from virsci_society import ScenarioSociety, load_scenario, run_scenario
from virsci_society.scenarios.runs.build import build_society
from virsci_society.society.results.run import Run


@pytest.fixture
def small(write, small_text):
    return write("small.yaml", small_text)


@pytest.mark.usefixtures("no_results")
def test_it_works_inside_a_running_event_loop(small, here):
    async def cell():
        changed = load_scenario(small, **{"until": "6w", "backend.latency": 0.0005})
        return run_scenario(changed, here / "run")

    folder = asyncio.run(cell())
    assert Run.open(folder).days == 42


def test_a_batch_run_varies_keys_and_seeds(small):
    keys = {"setup": str(small), "until": "4w", "protocol.turns": [1, 2]}
    rows = batch_run(ScenarioSociety, keys, seeds=(1, 2))
    made = {(row["protocol.turns"], row["seed"]) for row in rows}
    assert made == {(turns, seed) for turns in (1, 2) for seed in (1, 2)}
    assert {row["day"] for row in rows} == {28.0}


def test_the_iterations_of_a_batch_run_differ_and_tell_their_seeds(small):
    """Mesa gives iterations the same arguments: a seed that nobody states has to be drawn."""
    keys = {"setup": str(small), "until": "12w"}
    rows = batch_run(ScenarioSociety, keys, seeds=[None] * 3)
    assert len({row["seed"] for row in rows}) == 3
    again = ScenarioSociety(setup=str(small), until="12w", seed=rows[1]["seed"])
    again.run_to_end()
    last = again.datacollector.get_model_vars_dataframe().iloc[-1]
    assert again.seed == last["seed"] == rows[1]["seed"]
    for figure in ("teams_running", "papers", "calls", "people"):
        assert last[figure] == rows[1][figure]


def test_the_same_through_mesa_and_through_the_command(small, here):
    scenario = load_scenario(small, until="10w")
    built = build_society(scenario)
    built.run_to_end()
    by_keys = ScenarioSociety(setup=str(small), seed="scenario", until="10w")
    by_keys.run_to_end()
    assert by_keys.log.events == built.log.events
    assert by_keys.log.rows == built.log.rows


@pytest.mark.slow
def test_mesas_viewer_may_pass_dotted_keys():
    taken = inspect.signature(ScenarioSociety.__init__).parameters
    free = [name for name, one in taken.items() if one.kind is inspect.Parameter.VAR_KEYWORD]
    assert free == ["kwargs"], "SolaraViz refuses any other name, and every dotted key with it"
    society = ScenarioSociety(scenario=object(), rng=3)
    assert society.seed == 3
    society.close()
