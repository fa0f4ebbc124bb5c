"""OASIS (camel-oasis): users of a small social platform, all of whom act by the model in each step.

As in OASIS's quick start: an agent graph, a platform of the kind ``reddit`` (the kind ``twitter``
loads an embedding model), ``oasis.make`` with its semaphore as the limit of calls at a time, and
``env.step`` with an ``LLMAction`` for every agent. OASIS keeps a database of what was done, which a
restart cannot go on from. Tokens are counted at four characters each, because CAMEL's own counter
downloads a vocabulary.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import Any

from work import Work, measured, read_work

WORK = read_work()
WORK.folder.mkdir(parents=True, exist_ok=True)
os.chdir(WORK.folder)  # OASIS opens log files in the current folder while it is imported
os.environ["OPENAI_API_KEY"] = "none"

import oasis  # noqa: E402
from camel.models import ModelFactory  # noqa: E402
from camel.types import ModelPlatformType  # noqa: E402
from camel.utils import BaseTokenCounter  # noqa: E402


class FourCharacters(BaseTokenCounter):
    """Four characters are a token."""

    def count_tokens_from_messages(self, messages: list[dict[str, Any]]) -> int:
        """Tokens of the messages."""
        return sum(len(str(message.get("content"))) for message in messages) // 4

    def encode(self, text: str) -> list[int]:
        """As many tokens as the text has."""
        return [0] * (len(text) // 4)

    def decode(self, token_ids: list[int]) -> str:
        """A text of so many tokens."""
        return "text" * len(token_ids)


async def open_platform(work: Work, name: str) -> Any:
    """The platform, with all agents signed up."""
    model = ModelFactory.create(
        model_platform=ModelPlatformType.OPENAI_COMPATIBLE_MODEL,
        model_type="bench",
        url=work.url,
        api_key="none",
        token_counter=FourCharacters(),
    )
    graph = oasis.AgentGraph()
    for number in range(work.agents):
        user = oasis.UserInfo(
            user_name=f"scientist{number}", name=f"Scientist {number}", description="A scientist."
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
    return env


async def play(env: Any, work: Work) -> None:
    """As many steps as there are calls."""
    for _ in range(work.calls):
        await env.step({agent: oasis.LLMAction() for _, agent in env.agent_graph.get_agents()})
    await env.close()


async def main() -> None:
    """Warm up, then do the work."""
    alone = replace(WORK, agents=1, calls=1)
    await play(await open_platform(alone, "warm-up"), alone)
    env = await open_platform(WORK, "platform")
    with measured(WORK):
        await play(env, WORK)


if __name__ == "__main__":
    asyncio.run(main())
