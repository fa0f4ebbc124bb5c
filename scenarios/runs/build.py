"""The ecosystem, the gateway and the society of a scenario, made ready to run."""

from __future__ import annotations

import json
from typing import Any, Literal, cast

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.gateway.slots import SharedEndpoint
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.config.schema import CHANGEABLE, Scenario, load_scenario
from virsci_society.scenarios.runs.preflight import teams_too_large
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.interventions import Change
from virsci_society.society.kernel.streams import chosen_seed
from virsci_society.society.literature.embedding.registry import is_hosted, make_model
from virsci_society.society.model import Society


def build_ecosystem_of(scenario: Scenario) -> Ecosystem:
    """Read or generate the ecosystem of a scenario."""
    source: Any = scenario.population.ecosystem
    if not hasattr(source, "generate"):
        raise InputError(
            f"population.ecosystem: {type(source).__name__} cannot be started from; it needs a "
            "method generate(seed) that returns an Ecosystem"
        )
    ecosystem: Ecosystem = source.generate(scenario.seed)
    ecosystem.require_runnable()
    require_team(scenario, ecosystem)
    name, novelty = ecosystem.embedding.name, scenario.novelty
    # Models of this machine in which novelty is measured too are looked for now, not at the end.
    for other in getattr(novelty, "embeddings", ())[1:]:
        make_model(other)
    # What measuring asks for would be in no journal, and paid for again by every replay.
    if not getattr(novelty, "measures_queries", True) and is_hosted(name):
        raise InputError(
            f"novelty.evaluated, novelty.words: the texts would have to be embedded by {name} when "
            "the run has ended, and measuring makes no calls; leave both out, set "
            "protocol.neighbour_query=abstract, or build the ecosystem with an embedding of this "
            "machine"
        )
    return ecosystem


def require_team(scenario: Scenario, ecosystem: Ecosystem) -> None:
    """Refuse teams that are larger than the population."""
    if faults := [*teams_too_large(scenario, len(ecosystem.profiles))]:
        raise InputError("\n".join(faults))


def build_gateway(
    scenario: Scenario,
    journal: Journal | None = None,
    *,
    strict: bool = False,
    shared: SharedEndpoint | None = None,
) -> Gateway:
    """The gateway to the scenario's backend."""
    speaking = scenario.backend
    backend: Any = scenario.seeded_backend
    if speaking.budget.usd is not None and not backend.priced:
        raise InputError(
            "backend.budget.usd: the price of the model is not known; give backend.prices, or "
            "a budget in tokens"
        )
    return Gateway(
        backend,
        speaking.in_flight,
        journal,
        retry=speaking.retry,
        budget=speaking.budget,
        strict=strict,
        shared=shared,
        unreadable=speaking.unreadable,
    )


def build_society(
    scenario: Scenario, ecosystem: Ecosystem | None = None, gateway: Gateway | None = None
) -> Society:
    """The society of a scenario, at day 0."""
    return Society(**_arguments(scenario, ecosystem, gateway))


def _arguments(
    scenario: Scenario, ecosystem: Ecosystem | None = None, gateway: Gateway | None = None
) -> dict[str, Any]:
    return {
        "ecosystem": build_ecosystem_of(scenario) if ecosystem is None else ecosystem,
        "gateway": gateway or build_gateway(scenario),
        "backend": scenario.seeded_backend,
        "interventions": changes_of(scenario),
        "times": scenario.time,
        "step_days": scenario.step,
        "drift": scenario.population.drift,
        "external_authors": scenario.population.external_authors,
        **{name: getattr(scenario, name) for name in _SAME_NAME},
    }


_SAME_NAME = (
    *("seed", "initial_projects", "until", "founding", "protocol", "attention", "publication"),
    *("careers", "assistance", "worth", "execution"),
)
"""Keys of a scenario that are arguments of a society."""


def changes_of(scenario: Scenario) -> list[Change]:
    """The interventions of a scenario as the society takes them: the settings that change."""
    changes, before = [], scenario
    for intervention, after in scenario.after_interventions():
        settings = {
            name: getattr(after, key)
            for key, name in CHANGEABLE.items()
            if getattr(after, key) != getattr(before, key)
        }
        text = json.dumps(intervention.set, sort_keys=True) if intervention.set else None
        changes.append(Change(intervention.at, text, settings, intervention.remove_scientists))
        before = after
    return changes


class ScenarioSociety(Society):
    """A society whose keyword arguments are scenario keys, for ``mesa.batch_run``.

    Args:
        setup: name or path of the scenario.
        seed: of everything random. None: one is drawn, as in every Mesa model, so that the
            iterations of ``mesa.batch_run`` differ; the attribute and the reporter ``seed`` have
            it. ``scenario``: that of the scenario.
        rng: a seed under the name that newer releases of Mesa use; a generator is drawn from once.
        trust: let dotted paths in it be imported.
        agent_reporters: collect a row per agent and step too (see ``Society``).
        scenario: what the viewer of Mesa 3.5 and later passes; it has no keys of ours.
        **kwargs: dotted keys and their values, such as ``**{"protocol.turns": 3}``; Mesa's
            viewer takes free keys under this name only.

    Example:
        >>> society = vs.ScenarioSociety("quickstart", seed=3, **{"until": "2w", "metrics": []})
        >>> while society.running:
        ...     society.step()
        >>> len(society.datacollector.get_model_vars_dataframe()) > 0
        True
    """

    def __init__(
        self,
        setup: str = "quickstart",
        *,
        seed: int | Literal["scenario"] | None = None,
        rng: int | np.random.Generator | None = None,
        trust: bool = False,
        agent_reporters: bool = False,
        scenario: object = None,
        **kwargs: Any,
    ) -> None:
        if rng is not None or seed != "scenario":
            # Before the scenario is read: its ecosystem may be invented from the same seed.
            kwargs["seed"] = chosen_seed(cast("int | None", seed), rng)
        read = load_scenario(setup, trust=trust, **kwargs)
        super().__init__(**_arguments(read), agent_reporters=agent_reporters)
