"""A provider on loopback that answers as a test says, and remembers what it was sent."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.agents.replies.form import Form


class Detail(Form):
    """Told to programmers only, twice."""

    why: str = ""


class Note(Form):
    """Told to programmers only."""

    text: str
    detail: Detail | None = None


def a_request(number=0, text="What now?"):
    told = (Message("system", "You are Scientist1."), Message("user", text))
    return Request(f"t/topic/0/1/{number}/utter/", Profile("Scientist1"), told, Note, {}, number)


@dataclass(frozen=True)
class Heard:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Broken:
    """What is sent before the connection is closed, or reset."""

    sent: bytes = b""
    reset: bool = False


Answer = bytes | Broken | AsyncIterator[bytes]
Answering = Callable[[Heard], Answer | Awaitable[Answer]]


def http(status, body, **headers):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": "application/json", "content-length": str(len(text))} | headers
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items()]
    return f"HTTP/1.1 {status} So\r\n{''.join(lines)}\r\n".encode() + text


def completion(content="Good.", finish="stop", **fields):
    message = {"role": "assistant", "content": content} | fields.pop("message", {})
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    said = {"id": "c1", "object": "chat.completion", "created": 1, "model": "served-model"}
    return said | {"choices": [choice], "usage": usage} | fields


class Provider:
    """Listens in a thread of its own until ``stop``; ``heard`` are the requests so far."""

    def __init__(self):
        self.answering: Answering = lambda _: http(200, completion())
        self.heard: list[Heard] = []
        self.open_connections = 0
        self.all_closed = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._listening.wait(120)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def answer(self, answer):
        self.heard.clear()
        self.answering = answer if callable(answer) else lambda _: answer

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(120)
        self._loop.close()

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._server.close()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _listen(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]
        self._listening.set()

    async def _serve(self, reader, writer):
        self.open_connections += 1
        self.all_closed.clear()
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self.open_connections -= 1
            if not self.open_connections:
                self.all_closed.set()

    async def _exchange(self, reader, writer):
        """Hear one request and answer it; False: the connection ends here."""
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
        pairs = (line.split(":", 1) for line in lines if line)
        headers = {name.lower(): value.strip() for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        heard = Heard(first.split()[1], headers, json.loads(body or b"{}"))
        self.heard.append(heard)
        answer = self.answering(heard)
        if isinstance(answer, Awaitable):
            gone = asyncio.ensure_future(reader.read(1))
            told = asyncio.ensure_future(answer)
            await asyncio.wait((told, gone), return_when=asyncio.FIRST_COMPLETED)
            told.cancel()
            gone.cancel()
            await asyncio.wait((told, gone))
            if told.cancelled():
                return False
            answer = told.result()
        if isinstance(answer, AsyncIterator):
            async for piece in answer:
                writer.write(piece)
                await writer.drain()
            return False
        if isinstance(answer, Broken):
            if answer.reset:
                linger = struct.pack("ii", 1, 0)
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.write(answer.sent)
            return False
        writer.write(answer)
        await writer.drain()
        return True
