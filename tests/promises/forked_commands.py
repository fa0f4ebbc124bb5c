"""Nursery: many runs of the command ``society``, each in a process of its own, quickly.

Importing everything that a run needs takes seconds. This process does it once, and forks a child
for each order it reads from its standard input; the child runs the command as a user would, and
may have been told where to die.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from functools import wraps
from pathlib import Path


def warm_up():
    """Import what a run imports, so that the children have it already."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm  # noqa: F401

    import agents.backends.litellm
    import agents.backends.openai  # noqa: F401
    import scenarios.cli.app
    import scenarios.runs.build
    import scenarios.runs.execute
    import scenarios.runs.progress  # noqa: F401
    import society.ecosystem.synthetic.synthetic  # noqa: F401
    from scenarios.config.json_schema import json_schema
    from scenarios.config.schema import Scenario

    json_schema(Scenario)


def die():
    """As if the plug had been pulled."""
    os.kill(os.getpid(), signal.SIGKILL)


def plant(site, nth):
    """Let this process die when it comes to a site for the n-th time."""
    import society.results.table_files
    from agents.journal.journal import Journal
    from scenarios.runs import run_folder

    seen = [0]

    def counted():
        seen[0] += 1
        if seen[0] == nth:
            die()

    def before(owner, name):
        whole = getattr(owner, name)

        @wraps(whole)
        def dying(*args, **kwargs):
            counted()
            return whole(*args, **kwargs)

        setattr(owner, name, dying)

    def after(owner, name):
        whole = getattr(owner, name)

        @wraps(whole)
        async def dying(*args, **kwargs):
            value = await whole(*args, **kwargs)
            counted()
            return value

        setattr(owner, name, dying)

    {
        "before intent": lambda: before(Journal, "record_intent"),
        "after intent": lambda: after(Journal, "record_intent"),
        "after answer": lambda: before(Journal, "record_outcome"),
        "after commit": lambda: after(Journal, "record_outcome"),
        "during resume": lambda: before(Journal, "lookup_call"),
        "writing tables": lambda: before(society.results.table_files, "write_parquet"),
        "writing results": lambda: before(run_folder, "write_atomically"),
    }[site]()


SITES = (
    "before intent",
    "after intent",
    "after answer",
    "after commit",
    "during resume",
    "writing tables",
    "writing results",
)


def run(order):
    """Run the command in this process; never returns."""
    out = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 1
    try:
        if not order["page"]:
            import metrics.report.page

            metrics.report.page.write_page = lambda run, folder: folder
        if order.get("site"):
            plant(order["site"], order["nth"])
        from scenarios.cli.app import main

        sys.argv = ["society", *order["arguments"]]
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def serve():
    """Fork one child an order; tell how each ended."""
    children = {}
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            pid = order["wait"]
            status = ended(pid, order.get("kill_after"))
            took = time.monotonic() - children.pop(pid)
            answer = {"code": os.waitstatus_to_exitcode(status), "seconds": took}
        else:
            pid = os.fork()
            if not pid:
                run(order)
            children[pid] = time.monotonic()
            answer = {"pid": pid}
        print(json.dumps(answer), flush=True)


def ended(pid, kill_after):
    """Wait for a child, and kill it if it takes longer than it may."""
    if kill_after is not None:
        until = time.monotonic() + kill_after
        while time.monotonic() < until:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    warm_up()
    # What is imported stays: children need not go through it when they collect garbage.
    gc.freeze()
    print("ready", flush=True)
    serve()
