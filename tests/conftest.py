"""What every test may use: a small ecosystem, a society over it, and no network."""

import gc
import os
import shutil
import socket
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from filelock import FileLock, Timeout
from hypothesis import HealthCheck, settings

from tests.forked_commands import ONE_THREAD, SELDOM, Nursery, SharedServer

# Folders of tests bear the names of packages: the packages come first, however pytest is started.
ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

if sys.dont_write_bytecode:
    # Two workers and many subprocesses load the same modules: they are compiled once for all.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Two workers on two cores: with more threads than one each, they would wait for each other.
for _name, _number in ONE_THREAD.items():
    os.environ.setdefault(_name, _number)

_memory = None


def _use_memory():
    """Let all temporary files be in memory, where this machine has a place for that.

    Tests write ten thousand small files, and more time goes into waiting for a disk than into
    some of their sums. ``TMPDIR=/tmp make test`` keeps the files on disk, and keeps them.
    """
    global _memory
    place, prefix = Path("/dev/shm"), "society-tests-"
    if "TMPDIR" in os.environ or not os.access(place, os.W_OK):
        return
    if shutil.disk_usage(place).free < 2 << 30:
        return
    for left in place.glob(f"{prefix}*"):  # of runs that were killed
        if not Path("/proc", left.name.removeprefix(prefix).partition("-")[0]).exists():
            shutil.rmtree(left, ignore_errors=True)
    _memory = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=place))
    tempfile.tempdir = os.environ["TMPDIR"] = str(_memory)


# Workers find the place in their environment.
_use_memory()
# No test touches the table of vectors of whoever runs them.
os.environ["SOCIETY_CACHE"] = str(Path(tempfile.gettempdir(), f"society-vectors-{os.getpid()}"))

# The same examples every time, and none of them fails because a machine is busy.
for _profile, _examples in (("suite", 30), ("slow", 200)):
    settings.register_profile(
        _profile,
        max_examples=_examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("suite")

# The tree of commands takes a tenth of a second to make, which no test changes.
typer.testing._get_command = cache(typer.testing._get_command)

gc.set_threshold(*SELDOM)

COLD = "TESTS_COLD"  # the variable with the lock of the worker that compiles a fresh clone
LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(scope="session", autouse=True)
def _closed_network():
    """Refuse every connection that would leave this machine, and keep a note of it."""
    tried = []

    def closed(original, place):
        def connect(self, *arguments):
            address = arguments[place]
            inside = self.family == getattr(socket, "AF_UNIX", None)
            if not inside and not str(address[0]).startswith(LOOPBACK):
                tried.append(address)
                raise ConnectionRefusedError(f"a test tried to reach {address!r}")
            return original(self, *arguments)

        return connect

    with pytest.MonkeyPatch.context() as patch:
        for name, place in (("connect", 0), ("connect_ex", 0), ("sendto", -1)):
            patch.setattr(socket.socket, name, closed(getattr(socket.socket, name), place))
        yield tried


@pytest.fixture(autouse=True)
def _no_network(_closed_network):
    """Fail the test that tried to leave this machine, also if it swallowed the refusal."""
    _closed_network.clear()
    yield
    tried, _closed_network[:] = list(_closed_network), []
    assert not tried, f"the test tried to reach {tried}"


@pytest.fixture
def network_attempts(_closed_network):
    """Addresses outside this machine that the present test has tried to reach."""
    return _closed_network


@pytest.fixture
def collected():
    """Collect garbage as often as Python does by default: for tests of how much is held."""
    seldom = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*seldom)


@pytest.fixture(scope="session")
def offline_nursery():
    """Processes that have all imported but clients of models, with another hash seed than ours."""
    made = Nursery()
    yield made
    made.close()


@pytest.fixture(scope="session")
def nursery(offline_nursery):
    """The same; some folders have one of their own."""
    return offline_nursery


@pytest.fixture(scope="session")
def synthetic():
    """An invented ecosystem of 30 scientists and 240 papers."""
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

    return Synthetic(scientists=30, papers=240).generate(3)


@pytest.fixture
def found(synthetic):
    """A function that founds a society over the small ecosystem, with any protocol."""
    from virsci_society.agents.offline.backend import Offline
    from virsci_society.society.formation.founding import Poisson
    from virsci_society.society.kernel.durations import Times
    from virsci_society.society.model import Society

    def make(protocol, **settings):
        defaults = {
            "founding": Poisson(teams_per_year=1.5),
            "times": Times(),
            "backend": Offline(),
            "until": 120.0,
        }
        return Society(synthetic, protocol=protocol, **(defaults | settings))

    return make


@pytest.fixture(scope="module")
def server():
    """A fault server; a test plans it and lets it count anew first."""
    from tests.faultserver import FaultServer

    with FaultServer() as running:
        yield running


@pytest.fixture
def provider():
    """A server that answers as a test tells it, and keeps what it has heard."""
    from tests.agents.backends.live_provider import Provider

    running = Provider()
    yield running
    running.stop()


@pytest.fixture
def promise(request):
    """Note a count that the end of the test run prints: ``promise("R1", "kill points", 40)``."""

    def note(name, what, count):
        request.node.user_properties.append(("promise", [name, what, count]))

    return note


def pytest_terminal_summary(terminalreporter):
    """Print what the promises were tried with, summed over all tests that tried them."""
    sums = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for kind, value in getattr(report, "user_properties", ()):
                if kind == "promise" and report.when == "call":
                    name, what, count = value
                    sums[name, what] = sums.get((name, what), 0) + count
    if sums:
        terminalreporter.section("promises")
    for (name, what), count in sorted(sums.items(), key=lambda item: (int(item[0][0][1:]), item)):
        terminalreporter.write_line(f"{name}: {what}: {count:,}")


def pytest_configure(config):
    """Let properties be tried with more examples where the slow tests run as well."""
    if "not slow" not in config.getoption("markexpr"):
        settings.load_profile("slow")
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        config.add_cleanup(SharedServer().close)
        if not any((ROOT / "tests/society/kernel").glob("__pycache__/test_*")):
            os.environ[COLD] = tempfile.mktemp(prefix="compiled-")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Let one worker compile what never was, which takes it ten seconds; the others wait for it."""
    if COLD in os.environ and hasattr(session.config, "workerinput"):
        with suppress(Timeout), FileLock(os.environ[COLD], timeout=0):
            return (yield)
        with FileLock(os.environ[COLD]):
            pass
    return (yield)


def pytest_unconfigure():
    """Leave what is there out of the collections with which pytest ends, seconds a worker."""
    gc.freeze()
    if _memory is not None:
        shutil.rmtree(_memory, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Leave keywords out of the reports of what passed, which workers send thrice a test."""
    report = yield
    if report.passed and hasattr(item.config, "workerinput"):
        report.keywords = {}
    return report


def pytest_cmdline_main(config):
    """Let the tests of one file run in one worker, which makes what they share once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist in ("no", "load"):
        config.option.dist = "loadfile"
        config.option.loadscopereorder = False


LONG = (
    "society/literature/embedding/test_sentence_transformer.py",
    *("scenarios/study/test_running.py", "test_docs.py", "promises/test_faults.py"),
    *("scenarios/calibration/test_calibrate.py", "promises/test_study_kills.py"),
    *("promises/test_hidden.py", "agents/backends/test_live_calls.py"),
    *("scenarios/cli/test_app.py", "scenarios/planning/test_plan.py"),
    *("metrics/test_partial_runs.py", "scenarios/analysis/test_compare_with_corpus.py"),
    *("protocols/virsci/test_transcript.py", "test_determinism.py"),
    *("agents/replies/test_parser_hostile.py", "scenarios/runs/test_fork.py"),
    *("test_mechanism.py", "promises", "scenarios", "metrics", "society", "protocols"),
)
"""Files and folders whose tests take longest, in the order in which they begin."""


def mark_sweeps(items):
    """Mark the cases of a sweep as slow, but for every n-th."""
    seen = Counter()
    for item in items:
        sweep = item.get_closest_marker("sweep")
        if sweep is not None:
            name = item.nodeid.partition("[")[0]
            if seen[name] % sweep.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[name] += 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Begin with what takes longest, so that no worker is left with it at the end."""
    mark_sweeps(items)
    places = {name: place for place, name in enumerate(LONG)}

    def place(item):
        within = item.path.relative_to(ROOT / "tests").as_posix()
        return places.get(within, places.get(within.split("/")[0], len(LONG)))

    items.sort(key=place)


def pytest_collection_finish():
    """Leave what is there for good out of collections of garbage, and make them rare.

    Tables and figures are full of cycles: a seventh of a worker's time went into collections.
    """
    from virsci_society.society.kernel import garbage_collection

    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    # Of a tenth, as in a run, it costs a second among the objects of all tests.
    garbage_collection.GROWTH = 3
