"""OASIS (camel-oasis): users of a small social platform, all of whom act by the model in each step.

As in OASIS's quick start: an agent graph, a platform of the kind ``reddit`` (the kind ``twitter``
loads an embedding model), ``oasis.make`` with its semaphore as the limit of calls at a time, and
``env.step`` with an ``LLMAction`` for every agent. OASIS keeps a database of what was done, which a
restart cannot go on from.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

from work import Work, measured, read_work

WORK = read_work()
WORK.folder.mkdir(parents=True, exist_ok=True)
os.chdir(WORK.folder)  # OASIS opens log files in the current folder while it is imported
os.environ["OPENAI_API_KEY"] = "none"

import oasis  # noqa: E402
from camel.models import ModelFactory  # noqa: E402
from camel.types import ModelPlatformType  # noqa: E402


async def run(work: Work, name: str) -> None:
    """Sign all agents up, then as many steps as there are calls."""
    model = ModelFactory.create(
        model_platform=ModelPlatformType.OPENAI_COMPATIBLE_MODEL,
        model_type="bench",
        url=work.url,
        api_key="none",
    )
    graph = oasis.AgentGraph()
    for number in range(work.agents):
        user = oasis.UserInfo(
            user_name=f"scientist{number}",
            name=f"Scientist {number}",
            description="A scientist.",
        )
        actions = [oasis.ActionType.CREATE_POST, oasis.ActionType.DO_NOTHING]
        graph.add_agent(
            oasis.SocialAgent(
                agent_id=number,
                user_info=user,
                agent_graph=graph,
                model=model,
                available_actions=actions,
            )
        )
    database = work.folder / f"{name}.db"
    database.unlink(missing_ok=True)
    env = oasis.make(
        agent_graph=graph,
        platform=oasis.DefaultPlatformType.REDDIT,
        database_path=str(database),
        semaphore=work.slots,
    )
    await env.reset()
    for _ in range(work.calls):
        await env.step({agent: oasis.LLMAction() for _, agent in env.agent_graph.get_agents()})
    await env.close()


def main() -> None:
    """Warm up, then do the work."""
    asyncio.run(run(replace(WORK, agents=1, calls=1), "warm-up"))
    with measured(WORK):
        asyncio.run(run(WORK, "platform"))


if __name__ == "__main__":
    main()
