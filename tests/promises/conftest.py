"""What the tests of the promises share: a fault server and a scenario of three teams."""

import json
from itertools import count
from pathlib import Path

import pytest

from tests.journal_rows import attempts, texts

KEY = "key-of-the-tests"
TEAMS = """\
name: three teams
seed: 5
until: 26w
population: {ecosystem: {use: folder, path: ecosystem}}
founding: {use: once, count: 3, every: 7d}
protocol: {use: virsci, team_size: 2, turns: 1, inviting: at_once, topic: {leaving: off}}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
metrics: []
backend:
  use: openai
  model: test
  key: FAULTSERVER_KEY
  in_flight: 8
  retry: {first: 0.01, longest: 0.05}
  unreadable: {stop_at: 1}
  deadlines: {connect: 60, read: 120, total: 240}
"""
"""Three teams whose run takes a second; the server's address is added.

No deadline passes on a busy machine; a test that is about one sets its own.
"""


@pytest.fixture(scope="session")
def nursery(offline_nursery):
    """Processes that have the client of a model imported too, and the key of the fault server."""
    made = offline_nursery.branch("openai", "aiohttp", FAULTSERVER_KEY=KEY)
    yield made
    made.close()


@pytest.fixture(scope="session")
def server():
    """One fault server for all tests of this process; ``reset`` and ``plan`` it first."""
    from tests.faultserver import FaultServer, Plan

    with FaultServer(Plan()) as made:
        yield made


@pytest.fixture(scope="session")
def ecosystem(tmp_path_factory):
    """A small ecosystem on disk: no run embeds anything of the past again."""
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

    folder = tmp_path_factory.mktemp("world") / "ecosystem"
    Synthetic(scientists=12, papers=90, fields=2, seed=1).generate(5).save(folder)
    return folder


def write_teams(folder, ecosystem, server, name="teams.yaml", **changes):
    """Write the scenario into a folder; ``**{"backend.in_flight": 2}`` changes keys of it."""
    import yaml

    data = yaml.safe_load(TEAMS)
    data["population"]["ecosystem"]["path"] = str(ecosystem)
    data["backend"]["api_base"] = server.url
    for key, value in changes.items():
        section, *rest = key.split(".")
        if rest:
            data.setdefault(section, {})[rest[0]] = value
        else:
            data[section] = value
    path = folder / name
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


def reset(server, **plan):
    """Let the fault server begin anew, with faults by ``Plan`` or with none."""
    from tests.faultserver import Plan

    server.plan(Plan(**plan))
    server.reset()


@pytest.fixture(scope="session")
def spending(nursery, server, ecosystem, tmp_path_factory):
    """Digest and tokens of the run without a fault."""
    folder = tmp_path_factory.mktemp("honest")
    reset(server)
    path = write_teams(folder, ecosystem, server)
    assert nursery.run(folder / "log", "run", path, "--out", folder / "run")[0] == 0
    counts = server.counts()
    return digest_of(folder / "run"), counts["prompt_tokens"] + counts["completion_tokens"]


@pytest.fixture(scope="session")
def honest(spending):
    """Digest of the run that nothing disturbs."""
    return spending[0]


@pytest.fixture
def scenario(tmp_path, ecosystem, server):
    """Write the scenario; ``scenario(**{"backend.in_flight": 2})`` changes keys of it."""

    def write(name="teams.yaml", **changes):
        return write_teams(tmp_path, ecosystem, server, name, **changes)

    return write


@pytest.fixture
def run_of(nursery, tmp_path):
    """Run a scenario into ``run``, or another folder, to this exit code; gives what it printed."""
    logs = (tmp_path / f"log-{number}" for number in count())

    def run(code, path, folder="run", **how):
        log = next(logs)
        found, _ = nursery.run(log, "run", path, "--out", tmp_path / folder, **how)
        told = log.read_text(encoding="utf-8") if log.exists() else ""
        assert found == code, told
        assert "Traceback" not in told, told
        return told

    return run


def digest_of(folder):
    """The digest of a finished run."""
    return (Path(folder) / "digest").read_text(encoding="utf-8").strip()


def answers_in(folder):
    """Ids of the calls whose answers the journal of a run holds."""
    from virsci_society.agents.errors import InputError
    from virsci_society.agents.journal.journal import Journal

    path = Path(folder) / "journal.sqlite"
    if not path.is_file():
        return set()
    try:
        with Journal(path, frozen=True) as journal:
            return set(texts(journal))
    except InputError:
        return set()  # killed before its first table was there


def attempts_in(folder):
    """The ledger of a run, row by row."""
    from virsci_society.agents.journal.journal import Journal

    with Journal(Path(folder) / "journal.sqlite", frozen=True) as journal:
        return attempts(journal)


def ledger_of(run):
    """What a finished run says was asked and paid."""
    return json.loads((Path(run) / "manifest.json").read_text(encoding="utf-8"))["ledger"]


def nothing_kept_was_paid_again(server, run, what="answers"):
    """Calls that the server knows more than once are told as in doubt; gives their ids."""
    asked = server.counts(full=True)["by_call"]
    again = {id_ for id_, call in asked.items() if call[what] > 1}
    assert again <= set(ledger_of(run)["in_doubt"]), "a call that was repeated is not listed"
    return again
