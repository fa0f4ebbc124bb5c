"""mesa-llm: a Mesa model whose agents plan side by side (``parallel_stepping``).

An agent's step is that of mesa-llm's tutorial: observe, plan by chain of thought, apply the plan.
It asks the model twice, once for thoughts and once for tool calls, so a run has half as many steps
as there are calls. The agents have the short-term memory; the default memory would ask for
summaries, one agent at a time. mesa-llm has no limit of calls at a time: a semaphore sets it here.
Nothing is kept for a restart (what its recorder writes cannot be resumed).
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

from work import Work, measured, question, read_work

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing is fetched from elsewhere

import mesa
from mesa.space import MultiGrid
from mesa_llm.llm_agent import LLMAgent
from mesa_llm.memory.st_memory import ShortTermMemory
from mesa_llm.parallel_stepping import enable_automatic_parallel_stepping
from mesa_llm.reasoning.cot import CoTReasoning

CALLS_A_STEP = 2


class Talker(LLMAgent):
    """An agent that says something in every step."""

    def __init__(self, model: Talk, number: int) -> None:
        super().__init__(
            model=model,
            reasoning=CoTReasoning,
            llm_model="openai/bench",
            system_prompt="You are a scientist.",
            vision=0,
            internal_state=[],
        )
        self.number, self.said = number, ""
        self.memory = ShortTermMemory(agent=self, n=5, display=False)

    async def astep(self) -> None:
        """Observe, plan and act; both calls of a plan are made in one slot."""
        seen = self.generate_obs()
        text = question(self.number, self.model.steps, self.said)
        async with self.model.slots:
            plan = await self.reasoning.aplan(prompt=text, obs=seen)
        self.said = str(plan.llm_plan.content)
        self.apply_plan(plan)


class Talk(mesa.Model):
    """All agents, on one field of a grid."""

    def __init__(self, work: Work) -> None:
        super().__init__(seed=1)
        self.parallel_stepping = True
        self.limit = work.slots
        self.slots = asyncio.Semaphore(work.slots)
        self.grid = MultiGrid(1, 1, torus=False)
        for number in range(work.agents):
            self.grid.place_agent(Talker(self, number), (0, 0))

    def step(self) -> None:
        """One step of all agents, in an event loop of its own."""
        self.slots = asyncio.Semaphore(self.limit)
        self.agents.shuffle_do("step")


def run(model: Talk, work: Work) -> None:
    """As many steps as the calls allow."""
    for _ in range(max(work.calls // CALLS_A_STEP, 1)):
        model.step()


def main() -> None:
    """Warm up, then do the work."""
    work = read_work()
    os.environ["OPENAI_API_KEY"] = "none"
    os.environ["OPENAI_BASE_URL"] = os.environ["OPENAI_API_BASE"] = work.url
    enable_automatic_parallel_stepping(mode="asyncio")
    alone = replace(work, agents=1, calls=CALLS_A_STEP)
    run(Talk(alone), alone)
    model = Talk(work)
    with measured(work):
        run(model, work)


if __name__ == "__main__":
    main()
