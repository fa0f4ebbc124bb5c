"""Build: from a checked scenario to a society, ready to run."""

from __future__ import annotations

from typing import Any

from agents.commons import Commons
from agents.errors import InputError
from agents.gateway import Gateway
from agents.journal import Journal
from scenarios.changes import SETTINGS, told
from scenarios.schema import Scenario, load_scenario
from society.ecosystem.ecosystem import Ecosystem
from society.interventions import Change
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


def build_gateway(
    scenario: Scenario,
    journal: Journal | None = None,
    *,
    strict: bool = False,
    commons: Commons | None = None,
) -> Gateway:
    """The way to the scenario's backend.

    Args:
        scenario: checked.
        journal: of its run folder; None: the calls are kept in memory, if they cost anything.
        strict: nothing but what the journal knows may be said.
        commons: slots and connections that it shares with other runs of this process.

    Raises:
        InputError: a budget in money, and a model without a known price.
    """
    speaking = scenario.backend
    backend: Any = scenario.speaker
    if speaking.budget.usd is not None and not getattr(backend, "priced", True):
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
        commons=commons,
    )


def build_society(
    scenario: Scenario, ecosystem: Ecosystem | None = None, gateway: Gateway | None = None
) -> Society:
    """The society of a scenario, at day 0.

    Args:
        scenario: checked.
        ecosystem: the scenario's own, where it has been built already.
        gateway: the way to its backend, where it is to keep a journal.

    Raises:
        InputError: its ecosystem cannot be used.
    """
    return Society(**_arguments(scenario, ecosystem, gateway))


def _arguments(
    scenario: Scenario, ecosystem: Ecosystem | None = None, gateway: Gateway | None = None
) -> dict[str, Any]:
    return {
        "ecosystem": build_ecosystem_of(scenario) if ecosystem is None else ecosystem,
        "protocol": scenario.protocol,
        "founding": scenario.founding,
        "times": scenario.time,
        "attention": scenario.attention,
        "backend": scenario.speaker,
        "gateway": gateway or build_gateway(scenario),
        "until": scenario.until,
        "step_days": scenario.step,
        "seed": scenario.seed,
        "interventions": changes_of(scenario),
        "publication": scenario.publication,
        "drift": scenario.population.drift,
        "careers": scenario.careers,
    }


def changes_of(scenario: Scenario) -> list[Change]:
    """The interventions of a scenario, their values as parts; only what is set anew is named."""
    changes, before = [], scenario
    for one, after in scenario.changed():
        settings = {
            name: getattr(after, key)
            for key, name in SETTINGS.items()
            if getattr(after, key) != getattr(before, key)
        }
        changes.append(Change(one.at, told(one), settings, one.remove_scientists))
        before = after
    return changes


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
