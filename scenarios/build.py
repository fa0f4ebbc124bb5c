"""Build: from a checked scenario to a society, ready to run."""

from __future__ import annotations

from typing import Any

from agents.errors import InputError
from scenarios.schema import Scenario, load_scenario
from society.ecosystem.ecosystem import Ecosystem
from society.model import Society


def build_ecosystem_of(scenario: Scenario) -> Ecosystem:
    """Read or generate what the scenario starts from.

    Raises:
        InputError: missing or damaged, without papers or people, or too few for one team.
    """
    source: Any = scenario.population.ecosystem
    if not hasattr(source, "generate"):
        raise InputError(
            f"population.ecosystem: {type(source).__name__} cannot be started from; it needs a "
            "method generate(seed) that returns an Ecosystem"
        )
    ecosystem: Ecosystem = source.generate(scenario.seed)
    ecosystem.require_runnable()
    wanted, people = getattr(scenario.protocol, "team_size", None), len(ecosystem.profiles)
    if isinstance(wanted, int) and wanted > people:
        raise InputError(
            f"protocol.team_size: a team of {wanted} cannot be made of the {people} scientists "
            "of the ecosystem"
        )
    return ecosystem


def build_society(scenario: Scenario, ecosystem: Ecosystem | None = None) -> Society:
    """The society of a scenario, at day 0.

    Args:
        scenario: checked.
        ecosystem: the scenario's own, where it has been built already.

    Raises:
        InputError: its ecosystem cannot be used.
    """
    return Society(**_arguments(scenario, ecosystem))


def _arguments(scenario: Scenario, ecosystem: Ecosystem | None = None) -> dict[str, Any]:
    return {
        "ecosystem": build_ecosystem_of(scenario) if ecosystem is None else ecosystem,
        "protocol": scenario.protocol,
        "founding": scenario.founding,
        "times": scenario.time,
        "attention": scenario.attention,
        "backend": scenario.backend.backend,
        "in_flight": scenario.backend.in_flight,
        "until": scenario.until,
        "step_days": scenario.step,
        "seed": scenario.seed,
    }


class ScenarioSociety(Society):
    """A society whose keyword arguments are scenario keys, as ``mesa.batch_run`` wants it.

    Args:
        setup: name or path of the scenario.
        seed: its seed, if it is to differ.
        rng: the same under the name that newer releases of Mesa use.
        trust: let dotted paths in it be imported.
        **kwargs: dotted keys and their values, such as ``**{"protocol.turns": 3}``; Mesa's
            viewer takes free keys under this name only.
    """

    def __init__(
        self,
        setup: str = "quickstart",
        *,
        seed: int | None = None,
        rng: int | None = None,
        trust: bool = False,
        **kwargs: Any,
    ) -> None:
        chosen = rng if seed is None else seed
        changed = kwargs if chosen is None else {**kwargs, "seed": int(chosen)}
        super().__init__(**_arguments(load_scenario(setup, trust=trust, **changed)))
