"""What every test may use: a small ecosystem, a society over it, and no network."""

import socket
import sys
from pathlib import Path

import pytest

# Folders of tests bear the names of packages: the packages come first, however pytest is started.
sys.path.insert(0, str(Path(__file__).parents[1]))

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


@pytest.fixture(scope="session")
def synthetic():
    """An invented ecosystem of 30 scientists and 240 papers."""
    from society.ecosystem.synthetic import Synthetic

    return Synthetic(scientists=30, papers=240).generate(3)


@pytest.fixture
def found(synthetic):
    """A function that founds a society over the small ecosystem, with any protocol."""
    from agents.offline.scientist import Offline
    from society.durations import Times
    from society.founding import Poisson
    from society.model import Society

    def make(protocol, **settings):
        defaults = {
            "founding": Poisson(teams_per_year=1.5),
            "times": Times(),
            "backend": Offline(),
            "until": 120.0,
        }
        return Society(synthetic, protocol=protocol, **(defaults | settings))

    return make


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
