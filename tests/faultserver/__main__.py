"""``python -m tests.faultserver``: the server as a program, until its standard input ends."""

import argparse
import asyncio
import importlib
import signal
import sys
import threading

from tests.faultserver.plan import Plan
from tests.faultserver.server import Server

_FORMS = (
    "virsci_society.protocols.forms",
    "virsci_society.protocols.virsci.forms",
    "virsci_society.protocols.ideas",
)


def main():
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m tests.faultserver", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--plan", metavar="JSON", default="{}", help="see plan.py")
    given = parser.parse_args()
    asyncio.run(_serve(Plan.model_validate_json(given.plan), given.port))


async def _serve(plan, port):
    server, ended = Server(plan), asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_ in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_, ended.set)
    port = await server.start(port)
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    # Only now: nobody waits for what the first answers need.
    for module in _FORMS:
        importlib.import_module(module)
    threading.Thread(target=_wait_for_end, args=(loop, ended), daemon=True).start()
    await ended.wait()
    await server.stop()


def _wait_for_end(loop, ended):
    """Whoever holds the other end of our input may be gone without a word."""
    sys.stdin.buffer.read()
    loop.call_soon_threadsafe(ended.set)


if __name__ == "__main__":
    main()
