"""Fixtures: the proxy of the session, and the runs against it, each made once."""

import pytest

from tests.faultserver import FaultServer
from tests.peers import litellm_proxy
from tests.peers.runs import play, settings


@pytest.fixture(scope="session")
def rules():
    """The server of the rule-based scientists behind the proxy, which counts what reaches it."""
    with FaultServer() as server:
        yield server


@pytest.fixture(scope="session")
def proxy(rules, tmp_path_factory):
    """The proxy, which can be asked."""
    if reason := litellm_proxy.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("proxy")
    with litellm_proxy.Proxy(folder, {"test": rules.url}) as started:
        yield started


@pytest.fixture(scope="session")
def played(proxy, tmp_path_factory):
    """A function that makes a run, by its name, or gives the one that was made before."""
    made = {}

    def outcome(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = play(settings(name, proxy), folder, proxy.key)
        return made[name]

    return outcome
