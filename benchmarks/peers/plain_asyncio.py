"""The ceiling: coroutines and HTTP over asyncio's own streams, without any framework.

Each slot is a connection that stays open; an agent takes one for each call. Nothing is kept for a
restart.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from urllib.parse import urlsplit

from work import Work, measured, question, read_work

Connections = asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]


async def ask(work: Work, connections: Connections, text: str) -> str:
    """One call over the next free connection."""
    reader, writer = connection = await connections.get()
    try:
        body = json.dumps({"model": "bench", "messages": [{"role": "user", "content": text}]})
        path = f"{urlsplit(work.url).path}/chat/completions"
        writer.write(
            f"POST {path} HTTP/1.1\r\nHost: {urlsplit(work.url).netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        if length is None:
            raise RuntimeError(f"no length in {head!r}")
        reply = json.loads(await reader.readexactly(int(length[1])))
        return str(reply["choices"][0]["message"]["content"])
    finally:
        connections.put_nowait(connection)


async def agent(work: Work, connections: Connections, number: int) -> None:
    """The calls of one agent, one after another."""
    before = ""
    for call in range(work.calls):
        before = await ask(work, connections, question(number, call, before))


async def run(work: Work) -> None:
    """All agents at once, with as many connections as there are slots."""
    place = urlsplit(work.url)
    connections: Connections = asyncio.Queue()
    for _ in range(work.slots):
        connections.put_nowait(await asyncio.open_connection(place.hostname, place.port))
    await asyncio.gather(*(agent(work, connections, number) for number in range(work.agents)))


def main() -> None:
    """Warm up, then do the work."""
    work = read_work()
    asyncio.run(run(replace(work, agents=1, calls=1)))
    with measured(work):
        asyncio.run(run(work))


if __name__ == "__main__":
    main()
