"""Fixtures: the peers of the session, and the runs against them, each made once."""

import pytest

from tests.peers import litellm_proxy
from tests.peers.runs import RUNS, Peers, play


@pytest.fixture(scope="session")
def peers(tmp_path_factory):
    """The proxy and what is behind it, started when they are first asked for."""
    with Peers(tmp_path_factory.mktemp("peers")) as started:
        yield started


@pytest.fixture(scope="session")
def played(peers, tmp_path_factory):
    """A function that makes a run, by its name, or gives the one that was made before."""
    made = {}

    def outcome(name):
        reason = litellm_proxy.missing()
        if reason is not None:
            pytest.skip(reason)
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = play(peers.settings(RUNS[name]), folder, peers.key)
        return made[name]

    return outcome
