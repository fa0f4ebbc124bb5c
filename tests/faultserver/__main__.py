"""``python -m tests.faultserver``: the server as a program, until Ctrl-C."""

import argparse
import asyncio
import importlib
import json
import signal
import sys
import threading

from pydantic import ValidationError

from tests.faultserver.plan import KINDS, Plan
from tests.faultserver.server import Server

_FORMS = (
    "virsci_society.protocols.forms",
    "virsci_society.protocols.virsci.forms",
    "virsci_society.protocols.ideas",
)


def main():
    """Read the options, serve, and print the counts at the end."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faultserver",
        description="An OpenAI-compatible server on loopback whose rule-based scientists answer "
        "right, slow, wrong, or not at all.",
    )
    parser.add_argument("--port", type=int, default=8089, help="0: any free one")
    parser.add_argument(
        "--attached", action="store_true", help="end with the standard input; print no counts"
    )
    add_options(parser)
    given = parser.parse_args()
    asyncio.run(_serve(plan_of(given), given.port, attached=given.attached))


def add_options(parser):
    """What a plan can be told on the command line."""
    told = f"how often an attempt fails so; can be repeated; KIND is {', '.join(KINDS)}"
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=RATE", help=told)
    parser.add_argument("--latency", metavar="SECONDS", help="mean seconds before any answer")
    parser.add_argument("--plan", metavar="JSON", default="{}", help="a whole plan; see plan.py")


def plan_of(given):
    """The plan; what is wrong with it ends the program with a sentence and exit code 2."""
    try:
        plan = Plan.model_validate_json(given.plan).model_dump()
        plan["rates"] |= {
            kind: rate for kind, _, rate in (one.partition("=") for one in given.fault)
        }
        plan |= {} if given.latency is None else {"latency": given.latency}
        return Plan.model_validate(plan)
    except ValidationError as wrong:
        for one in wrong.errors():
            place = ".".join(map(str, one["loc"])) or "plan"
            print(f"{place}: {one['msg']} (got {one['input']!r})", file=sys.stderr)
        raise SystemExit(2) from None


async def _serve(plan, port, *, attached):
    server, ended = Server(plan), asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_ in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_, ended.set)
    try:
        port = await server.start(port)
    except OSError as error:
        raise SystemExit(f"port {port}: {error.strerror}; try --port 0") from None
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    # Only now: nobody waits for what the first answers need.
    for module in _FORMS:
        importlib.import_module(module)
    if attached:
        threading.Thread(target=_wait_for_end, args=(loop, ended), daemon=True).start()
    await ended.wait()
    await server.stop()
    if not attached:
        print(json.dumps(server.counts.shown(), indent=2))


def _wait_for_end(loop, ended):
    """Whoever holds the other end of our input may be gone without a word."""
    sys.stdin.buffer.read()
    loop.call_soon_threadsafe(ended.set)


if __name__ == "__main__":
    main()
