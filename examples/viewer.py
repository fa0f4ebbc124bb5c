"""A society to watch: its co-authorship network, and who is at work, week by week.

With the extra ``[viz]`` installed: ``solara run examples/viewer.py``. The style sheets and scripts
of Mesa's viewer come with the extra, so the browser needs no internet.
"""

from functools import lru_cache

import networkx
from mesa.visualization import SolaraViz, make_plot_component, make_space_component
from mesa.visualization.components import AgentPortrayalStyle

import virsci_society as vs

COLOURS = ("#c9ced6", "#7aa6c2", "#e08a3c", "#b5305b")
"""In no team, in one, in two, in three or more."""


def portrayal(scientist):
    """A dot: its colour tells in how many teams a scientist is working now."""
    colour = COLOURS[min(scientist.load, len(COLOURS) - 1)]
    return AgentPortrayalStyle(color=colour, size=20 + 20 * scientist.load)


@lru_cache(maxsize=1)
def layout(graph, seed):
    """Places from the ties before day 0; people stay where they are while ties grow."""
    return networkx.spring_layout(graph, seed=seed)


parameters = {
    "setup": "quickstart",
    "seed": {"type": "SliderInt", "value": 1, "min": 0, "max": 50, "step": 1},
    "protocol.turns": {"type": "SliderInt", "value": 2, "min": 1, "max": 7, "step": 1},
    "founding.max_teams": {"type": "SliderInt", "value": 3, "min": 1, "max": 6, "step": 1},
}
page = SolaraViz(
    vs.ScenarioSociety("quickstart", seed=1),
    components=[
        make_space_component(portrayal, backend="matplotlib", layout_alg=layout),
        make_plot_component(["teams_running", "teams_finished", "papers"], backend="matplotlib"),
        make_plot_component(["busy_scientists", "max_memberships"], backend="matplotlib"),
    ],
    model_params=parameters,
    name="A society of virtual scientists (rule-based, not a language model)",
)
page  # noqa: B018 - solara shows what stands last
