"""A society is an ordinary Mesa model (rule 26; architecture section 3)."""

import gc
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from tests.mesa_batch import batch_run
from tests.society.tiny_society import (
    BEFORE,
    ECOSYSTEM,
    Scripted,
    Stated,
    Written,
    by_chance,
    echo,
    run,
    talk,
    times,
)
from virsci_society.agents.mesa import Scientist
from virsci_society.society.model import Society

LEADERS = ((0.0, 0), (3.0, 4), (12.0, 7))


class Small(Society):
    """A society whose arguments are numbers, as ``mesa.batch_run`` wants it."""

    def __init__(self, rounds=2, seed=0, live=False, step_days=10.0, agent_reporters=False):
        super().__init__(
            **arguments(rounds, live),
            step_days=step_days,
            seed=seed,
            agent_reporters=agent_reporters,
        )


def arguments(rounds=2, live=False):
    return {
        "ecosystem": ECOSYSTEM,
        "protocol": Written(steps=talk(rounds=rounds)),
        "founding": Stated(teams_at=LEADERS),
        "times": times(),
        "backend": Scripted(script=echo, delay=by_chance if live else None),
        "until": 40.0,
    }


@pytest.mark.parametrize("live", [False, True])
def test_it_works_under_batch_run(live):
    results = batch_run(Small, {"rounds": [1, 3], "live": [live]}, seeds=(0, 1), max_steps=50)
    last = {(row["rounds"], row["seed"]): (row["day"], row["papers"]) for row in results}
    assert last == {(rounds, seed): (40.0, 3) for rounds in (1, 3) for seed in (0, 1)}


def test_figures_are_collected_once_per_step():
    society = Small(rounds=3)
    for steps in range(1, 5):
        society.step()
        frame = society.datacollector.get_model_vars_dataframe()
        assert len(frame) == steps
        assert frame["day"].iloc[-1] == 10.0 * steps
    # Finished on days 7, 10 and 19, published on days 17, 20 and 29.
    assert frame["papers"].tolist() == [0, 1, 3, 3]
    assert frame["teams_running"].tolist() == [1, 0, 0, 0]
    assert frame["teams_finished"].tolist() == [1, 2, 0, 0]
    assert frame["busy_scientists"].tolist() == [2, 0, 0, 0]
    assert frame["max_memberships"].tolist() == [1, 0, 0, 0]
    assert frame["calls"].tolist() == [0, 7, 21, 21]


def test_a_seed_that_is_not_stated_is_drawn_and_told():
    one, other = Small(seed=None), Small(seed=None)
    assert one.seed != other.seed
    one.step()
    assert one.datacollector.get_model_vars_dataframe()["seed"].tolist() == [one.seed]
    again = Small(seed=one.seed)
    for society in (one, again):
        society.run_to_end()
    assert again.log.rows == one.log.rows
    other.close()


@pytest.mark.parametrize("rng", [7, np.int64(7), np.random.default_rng(3)])
def test_the_seed_has_the_name_of_other_libraries_too(rng):
    society = Society(**arguments(), rng=rng)
    drawn = int(np.random.default_rng(3).integers(2**31))
    assert society.seed == (drawn if isinstance(rng, np.random.Generator) else 7)
    assert type(society.seed) is int
    society.close()


def test_agents_are_collected_where_it_is_asked_for():
    assert not Small().datacollector.agent_reporters
    society = Small(rounds=3, agent_reporters=True)
    society.run_to_end()
    table = society.datacollector.get_agent_vars_dataframe()
    assert len(table) == 4 * len(society.agents)
    end, wrote = table.xs(4, level="Step").set_index("name"), society.log.rows["authorships"]
    for agent in society.agents:
        row = end.loc[agent.name]
        assert row["papers"] == agent.profile.papers
        assert row["coauthors"] == len(society.network.coauthors(agent.row)[0])
        assert row["teams"] == agent.load
    assert end["present"].all()
    # Three teams of two or three wrote one paper each, all of them on the fourth step's tables.
    start = table.xs(1, level="Step").set_index("name")
    assert int((end["papers"] - start["papers"]).sum()) == len(wrote) > 0
    assert table.xs(1, level="Step")["teams"].sum() == 2
    assert len(batch_run(Small, {"agent_reporters": True})) == len(society.agents)


def test_a_step_after_the_end_is_harmless():
    society = Small()
    society.run_to_end()
    frame = society.datacollector.get_model_vars_dataframe()
    events = list(society.log.events)
    for _ in range(3):
        society.step()
    society.close()
    assert society.day == 40.0
    assert society.datacollector.get_model_vars_dataframe().equals(frame)
    assert society.log.events == events
    assert not society.running


def test_the_last_period_may_be_short():
    society = Small(step_days=15.0)
    days = []
    society.run_to_end(lambda s: days.append(s.day))
    assert days == [15.0, 30.0, 40.0]


def test_everybody_is_an_agent():
    society = Small()
    assert len(society.agents) == len(ECOSYSTEM.profiles)
    assert all(isinstance(agent, Scientist) for agent in society.agents)
    assert [agent.name for agent in society.agents] == [p.id for p in ECOSYSTEM.profiles]
    assert sorted(agent.unique_id for agent in society.agents) == list(range(1, 11))


def test_mesa_comes_without_geometry_and_its_fronts_run_when_they_are_asked_for():
    code = """if True:
    import sys, virsci_society.agents.mesa as ours
    assert sys.modules.keys().isdisjoint({"scipy.spatial", "networkx"})
    import mesa, mesa.discrete_space as spaces
    assert (mesa.Model, spaces.CellAgent) == (ours.Model, ours.Scientist.__base__)
    assert spaces.OrthogonalMooreGrid and mesa.space.MultiGrid
    assert mesa.experimental.continuous_space.ContinuousSpace
    assert "scipy.spatial" in sys.modules and "mesa.model" in mesa.mesa_logging._module_loggers
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_mesa_space_holds_everybody_and_the_ties_as_of_now():
    society = Small(rounds=3)
    space = society.space
    before = {(min(i, j), max(i, j)): count for (i, j), count in BEFORE.items()}
    assert {(i, j): w for i, j, w in space.G.edges(data="weight")} == before
    assert [space[row].agents for row in range(10)] == [[agent] for agent in society.agents]
    beside = {agent.name for agent in space[1].neighborhood.agents}
    assert beside == {"Scientist0", "Scientist2"}
    society.run_to_end()
    assert not space.G.has_edge(4, 5), "not asked again yet"
    assert society.space is space, "so that a viewer may keep it"
    assert {(i, j): space.G[i][j]["weight"] for i, j in ((0, 1), (4, 5), (7, 8))} == {
        (0, 1): 3,
        (4, 5): 1,
        (7, 8): 1,
    }
    assert len(list(space.all_cells.agents)) == 10
    assert {agent.name for agent in space[4].neighborhood.agents} >= {"Scientist5"}


@pytest.fixture
def few_objects():
    """Leave what other tests made out of the collections of garbage that a test asks for."""
    gc.collect()
    gc.freeze()


def answering():
    return [thread for thread in threading.enumerate() if thread.name == "answers"]


def until(holds, seconds=120.0):
    end = time.monotonic() + seconds
    # Societies of other tests end their threads when they are collected.
    gc.collect()
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_no_thread_before_the_first_live_call(few_objects):
    until(lambda: not answering())
    society = Small(live=True)
    assert not answering()
    society.step()
    assert len(answering()) == 1
    society.run_to_end()
    assert not answering()
    run(talk())
    assert not answering(), "words that come at once need no thread"


@pytest.mark.slow
def test_dropping_a_model_closes_its_thread(few_objects):
    until(lambda: not answering())
    society = Small(live=True)
    society.step()
    assert answering()
    gone = weakref.ref(society)
    del society

    def collected():
        gc.collect()
        return gone() is None and not answering()

    until(collected)


@pytest.mark.parametrize("runs", [True, False])
def test_a_model_is_let_go_whether_it_ran_or_not(few_objects, runs):
    society = Small()
    if runs:
        society.run_model()
        assert (society.day, society.running) == (40.0, False)
    gone = weakref.ref(society)
    del society
    gc.collect()
    assert gone() is None
