"""Nursery: many processes that run the command ``society``, or a function of a test, quickly.

One process imports all and does a first run, which takes seconds; then it forks a child for each
order, whose hash seed differs from that of the tests and whose libraries use one thread.
"""

import atexit
import gc
import json
import multiprocessing
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache, wraps
from importlib import import_module
from itertools import count
from pathlib import Path

from virsci_society.agents import redaction

ROOT = Path(__file__).parents[1]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""A process whose libraries have threads of their own cannot be forked safely."""
SELDOM = (50_000, 20, 20)
"""When garbage is collected: by default every 700 objects, which a run makes by the million."""
MAIN = "from tests.forked_commands import main; main()"
SHARED = "TESTS_NURSERY"
"""The variable with the address of the server."""
LIVE = ("openai", "aiohttp")
"""The modules of the branch that is shared as well."""
SMALL = {
    "population.ecosystem.scientists": 8,
    "population.ecosystem.papers": 40,
    "protocol.team_size": 1,
    "protocol.turns": 1,
    "until": "40d",
}
"""A run that comes through everything that is imported late."""


class SharedServer:
    """The process that all nurseries have been forked from; it listens on two sockets.

    Its address is in the environment, so that several workers share it. The second socket is that
    of its branch with the client of a model.
    """

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="nursery-")
        path = f"{self._folder.name}/server"
        with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as live:
            for one, place in ((listening, path), (live, f"{path}-live")):
                one.bind(place)
                one.listen()
            numbers = [one.fileno() for one in (listening, live)]
            seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
            self._process = subprocess.Popen(
                [sys.executable, "-c", MAIN, *map(str, numbers)],
                cwd=ROOT,
                env=os.environ | ONE_THREAD | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                pass_fds=numbers,
            )
        os.environ[SHARED] = path

    def close(self):
        """Let it end; nurseries that were forked from it end with their clients."""
        os.environ.pop(SHARED, None)
        self._process.communicate(timeout=120)
        self._folder.cleanup()


def connected(path):
    """A connection to a server that listens at this path."""
    made = socket.socket(socket.AF_UNIX)
    made.connect(path)
    return made


def attach(*arguments):
    """Make a process of the shared server the fault server; this connection is its terminal."""
    if SHARED not in os.environ:
        return None
    made = connected(os.environ[SHARED])
    made.sendall(json.dumps({"attach": arguments}).encode() + b"\n")
    told = b""
    while told.count(b"\n") < 2:  # not a byte of what the fault server says
        told += made.recv(1)
    return made, int(json.loads(told.splitlines()[1])["pid"])


class Nursery:
    """Processes that have everything imported already."""

    def __init__(self, server=None):
        self._folder = tempfile.TemporaryDirectory(prefix="nursery-")
        self._numbers = count()
        if SHARED not in os.environ:
            atexit.register(SharedServer().close)
        self._server = server or connected(os.environ[SHARED])
        self._answers = self._server.makefile("r", encoding="utf-8")
        assert self._answers.readline() == "ready\n"

    def branch(self, *modules, **environment):
        """Another nursery, whose processes have these modules and variables as well."""
        if modules == LIVE:
            made = Nursery(connected(f"{os.environ[SHARED]}-live"))
            made._ask({"variables": environment})
            return made
        path = f"{self._folder.name}/{next(self._numbers)}"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
            listening.listen()
            self._ask({"branch": path, "modules": modules, "env": environment})
            return Nursery(listening.accept()[0])

    def start(self, log, *arguments, **how):
        """Begin a command; gives its process id."""
        return self._begin({"arguments": [str(one) for one in arguments], "log": str(log), **how})

    def wait(self, pid, kill_after=None):
        """Wait for a process; gives its exit code (negative: the signal) and its seconds."""
        told = self._ask({"wait": pid, "kill_after": kill_after})
        return told["code"], told["seconds"]

    def run(self, log, *arguments, kill_after=None, **how):
        """Run a command to its end, or to the death it was told of."""
        return self.wait(self.start(log, *arguments, **how), kill_after)

    def society(self, *arguments, **how):
        """Run a command to its end; gives its exit code and what it printed."""
        out, errors = (Path(self._folder.name) / str(next(self._numbers)) for _ in range(2))
        code, _ = self.run(out, *arguments, errors=str(errors), **how)
        told = (out.read_text(encoding="utf-8"), errors.read_text(encoding="utf-8"))
        return subprocess.CompletedProcess(arguments, code, *told)

    def python(self, code, **how):
        """Run code to its end, as ``python -c`` would."""
        return self.society(before=code, only=True, **how)

    def call(self, function, **arguments):
        """What a function, ``module:name``, gives in a process of its own; all of it as JSON."""
        log, value = (Path(self._folder.name) / str(next(self._numbers)) for _ in range(2))
        order = {"call": function, "with": arguments, "log": str(log), "value": str(value)}
        code, _ = self.wait(self._begin(order))
        assert code == 0, log.read_text(encoding="utf-8")
        return json.loads(value.read_text(encoding="utf-8"))

    def close(self):
        """Let the server end."""
        self._answers.close()
        self._server.close()
        self._folder.cleanup()

    def _begin(self, order):
        order["cwd"] = str(order.get("cwd") or Path.cwd())
        return self._ask(order)["pid"]

    def _ask(self, order):
        self._server.sendall(json.dumps(order).encode() + b"\n")
        return json.loads(self._answers.readline())


def hash_of(text):
    """What this process has for a text, by its hash seed."""
    return hash(text)


def warm_up():
    """Do a small run, so that the children have imported what it imports, and all commands."""
    import scipy.stats  # of studies
    import typer.main
    from typer.testing import CliRunner

    import tests.faultserver.__main__
    import virsci_society.scenarios.runs.progress
    from virsci_society.scenarios.cli.app import app

    assert virsci_society.scenarios.runs.progress
    assert tests.faultserver.__main__
    assert scipy.stats
    typer.main.get_command = cache(typer.main.get_command)
    typer.main.get_command(app)
    settings = [part for key, value in SMALL.items() for part in ("--set", f"{key}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        done = CliRunner().invoke(app, ["run", "virsci/paper", *settings, "--out", f"{folder}/run"])
    assert done.exit_code == 0, done.output


def die():
    """As if the plug had been pulled."""
    os.kill(os.getpid(), signal.SIGKILL)


def plant(site, nth):
    """Let this process die when it comes to a site for the n-th time."""
    import virsci_society.society.results.table_files
    from virsci_society.agents.journal.journal import Journal
    from virsci_society.scenarios.runs import run_folder

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
        "writing tables": lambda: before(
            virsci_society.society.results.table_files, "write_parquet"
        ),
        "writing results": lambda: before(run_folder, "write_atomically"),
    }[site]()


SITES = (
    *("before intent", "after intent", "after answer", "after commit", "during resume"),
    *("writing tables", "writing results"),
)


def obey(order):
    """Do what was ordered in this process; never returns."""
    for name, place in ((1, order["log"]), (2, order.get("errors", order["log"]))):
        os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND), name)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # A suite that was started in the background ignores SIGINT, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    workers, code = ForkedWorkers(), 1
    if not order.get("spawn"):
        multiprocessing.get_context = lambda method=None: workers
    try:
        os.chdir(order["cwd"])
        os.environ.update(order.get("env", {}))
        redaction._known = redaction._Known()  # it reads the environment once, as it is by now
        exec(order.get("before", ""), {"__name__": "__main__"})
        if "call" in order:
            module, _, name = order["call"].partition(":")
            value = getattr(import_module(module), name)(**order["with"])
            Path(order["value"]).write_text(json.dumps(value), encoding="utf-8")
        elif not order.get("only"):
            command(order)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        # As an interpreter ends: a thread that is waited for, waits here too.
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class ForkedWorkers:
    """In the place of multiprocessing's way to start a worker of a study: fork one from here."""

    def __init__(self):
        self._whole = multiprocessing.get_context("fork")
        self._ours = []

    def Pipe(self):
        """Two ends of which the first is this process's own."""
        ours, theirs = self._whole.Pipe()
        self._ours.append(ours)
        return ours, theirs

    def Process(self, target, args, name):
        """A worker that, as one that has been spawned, holds no end of this process."""

        def work():
            for one in self._ours:
                one.close()
            target(*args)

        return self._whole.Process(target=work, name=name)


def command(order):
    """Run the command in this process."""
    if not order.get("page"):
        import virsci_society.metrics.report.page
        import virsci_society.metrics.summary

        virsci_society.metrics.report.page.write_page = lambda run, folder: folder
        virsci_society.metrics.summary.write_summary = lambda run, folder: None
    if order.get("site"):
        plant(order["site"], order.get("nth", 1))
    from virsci_society.scenarios.cli.app import main

    sys.argv = ["society", *order["arguments"]]
    main()


def serve(client):
    """Fork one child an order and tell how each ended; returns when the client has gone."""
    # What is imported stays: children need not go through it when they collect garbage.
    gc.collect()
    gc.freeze()
    children = {}
    client.sendall(b"ready\n")
    for line in client.makefile("r", encoding="utf-8"):
        order = json.loads(line)
        if "attach" in order:
            serve_faults(client, order["attach"])
        if "variables" in order:
            os.environ.update(order["variables"])
            answer = {}
        elif "wait" in order:
            pid = order["wait"]
            status = ended(pid, order.get("kill_after"))
            took = time.monotonic() - children.pop(pid)
            answer = {"code": os.waitstatus_to_exitcode(status), "seconds": took}
        else:
            pid = os.fork()
            if not pid:
                os.close(client.fileno())
                if "branch" in order:
                    branch(order)
                obey(order)
            if "branch" not in order:
                children[pid] = time.monotonic()
            answer = {"pid": pid}
        client.sendall(json.dumps(answer).encode() + b"\n")
    for pid in children:  # of tests that have failed
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.wait()


def serve_faults(client, arguments):
    """Be the fault server until its client ends; never returns."""
    from tests.faultserver.__main__ import main as serving

    client.sendall(json.dumps({"pid": os.getpid()}).encode() + b"\n")
    for number in (0, 1):
        os.dup2(client.fileno(), number)
    client.close()
    sys.argv = ["faultserver", *arguments]
    try:
        serving()
    except SystemExit as end:
        print(end, file=sys.stderr)
    finally:
        sys.stdout.flush()
        os._exit(0)


def branch(order):
    """Import more and serve whoever listens there; never returns."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(order["branch"])
    os.environ.update(order["env"])
    for module in order["modules"]:
        import_module(module)
    serve(client)
    os._exit(0)


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


def main():
    """Serve the process that has started this one."""
    sys.path.remove("")  # as the script ``society`` finds nothing in the current folder by itself
    listening, live = (socket.socket(fileno=int(one)) for one in sys.argv[1:])
    os.environ.pop(SHARED, None)
    warm_up()
    if os.fork():
        live.close()
        serve_many(listening)
    else:
        listening.close()
        serve_many(live, LIVE)


def serve_many(listening, modules=()):
    """Fork one server a client that connects, until the standard input ends."""
    while not select.select([listening, sys.stdin], [], [])[0].count(sys.stdin):
        for module in modules:
            import_module(module)
        client = listening.accept()[0]
        if not os.fork():
            listening.close()
            serve(client)
            os._exit(0)
        client.close()
        with suppress(ChildProcessError):  # nobody else waits for those that have ended
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
