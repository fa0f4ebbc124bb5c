"""Concordia: entities of the prefab ``minimal``, which act at once in every step.

As in Concordia's simultaneous engine, a step gives one task for each entity to
``concurrency.run_tasks`` and waits for all; no game master is asked, so every call is an entity's.
After each step the state of all entities is written as JSON, as Concordia's simulations do
at a checkpoint; a restart goes on from the last one.
"""

from __future__ import annotations

import functools
import json
import os
from dataclasses import replace
from typing import Any

import numpy as np
from concordia.associative_memory.basic_associative_memory import AssociativeMemoryBank
from concordia.language_model.gpt_model import GptLanguageModel
from concordia.prefabs.entity import minimal
from concordia.typing import entity as entity_types
from concordia.utils import concurrency
from work import Work, measured, question, read_work

SPEC = entity_types.free_action_spec(call_to_action="What do you say?")


def make_entities(work: Work, model: GptLanguageModel) -> list[Any]:
    """As many entities as there are agents, each with a memory of its own."""

    def embed(_: str) -> Any:
        return np.ones(3)  # as in Concordia's tutorial where no embedding model is wanted

    return [
        minimal.Entity(params={"name": f"Scientist {number}"}).build(
            model=model, memory_bank=AssociativeMemoryBank(sentence_embedder=embed)
        )
        for number in range(work.agents)
    ]


def act(entity: Any, number: int, call: int, before: str) -> str:
    """One turn of one entity: it observes what it said before, and acts."""
    entity.observe(question(number, call, before))
    return str(entity.act(SPEC))


def run(work: Work, entities: list[Any]) -> None:
    """All steps, from the last checkpoint in the folder if there is one."""
    said, first = dict.fromkeys((entity.name for entity in entities), ""), 0
    checkpoint = work.folder / "checkpoint.json"
    if checkpoint.is_file():
        kept = json.loads(checkpoint.read_text(encoding="utf-8"))
        said, first = kept["said"], kept["step"]
        for entity in entities:
            entity.set_state(kept["entities"][entity.name])
    for step in range(first, work.calls):
        tasks = {
            entity.name: functools.partial(act, entity, number, step, said[entity.name])
            for number, entity in enumerate(entities)
        }
        said = dict(concurrency.run_tasks(tasks, max_workers=work.slots))
        states = {entity.name: entity.get_state() for entity in entities}
        partial = checkpoint.with_suffix(".partial")
        partial.write_text(json.dumps({"step": step + 1, "said": said, "entities": states}))
        partial.replace(checkpoint)


def main() -> None:
    """Warm up in a folder of its own, then do the work."""
    work = read_work()
    os.environ["OPENAI_BASE_URL"] = work.url
    model = GptLanguageModel(model_name="bench", api_key="none")
    warm = work.folder / "warm-up"
    warm.mkdir(parents=True, exist_ok=True)
    alone = replace(work, agents=1, calls=1, folder=warm)
    run(alone, make_entities(alone, model))
    entities = make_entities(work, model)
    with measured(work):
        run(work, entities)


if __name__ == "__main__":
    main()
