"""The key ``backend.acceptance``: old folders go on, other rules are other experiments."""

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.agents.offline.backend import LogisticAcceptance
from virsci_society.scenarios.config.reader import write_part
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.scenarios.runs.run_journal import identity_hash
from virsci_society.society.results.run import Run

pytestmark = pytest.mark.usefixtures("no_results")

SMALL = {
    "until": "200d",
    "population.ecosystem.scientists": 12,
    "population.ecosystem.papers": 60,
    "protocol.turns": 1,
    "protocol.team_size": 3,
    "metrics": [],
}
FRIENDS = """\
from virsci_society.agents.offline.backend import Acceptance


class Nobody(Acceptance):
    def probability(self, invitation):
        return 0.0
"""


def scenario(trust=False, **keys):
    return load_scenario("quickstart", trust=trust, **{**SMALL, **keys})


def outcomes(folder):
    return set(Run.open(folder).table("invitations")["outcome"].dropna())


def digest(folder):
    return (folder / "digest").read_text()


def test_the_usual_rule_is_no_part_of_an_identity():
    now = scenario()
    assert "acceptance" not in now.identity().get("backend", {})
    usual = {"use": "logistic", **write_part(LogisticAcceptance())}
    assert identity_hash(scenario(**{"backend.acceptance": usual})) == identity_hash(now)
    other = scenario(**{"backend.acceptance.load": 0.0})
    assert other.identity()["backend"] == {"acceptance": {"load": 0.0}}
    assert identity_hash(other) != identity_hash(now)


@pytest.mark.slow
def test_naming_the_default_changes_no_digest_and_always_leaves_only_the_limit(tmp_path):
    by_default = run_scenario(scenario(), tmp_path / "default")
    named = run_scenario(scenario(**{"backend.acceptance.use": "logistic"}), tmp_path / "named")
    always = run_scenario(scenario(**{"backend.acceptance": "always"}), tmp_path / "always")
    assert digest(by_default) == digest(named) != digest(always)
    assert "declined" in outcomes(by_default)
    assert outcomes(always) <= {"accepted", "full"}


def test_a_rule_of_ones_own_runs_once_it_is_trusted(tmp_path, monkeypatch):
    (tmp_path / "nobody_for_tests.py").write_text(FRIENDS)
    monkeypatch.syspath_prepend(tmp_path)
    own = {"backend.acceptance.use": "nobody_for_tests:Nobody"}
    with pytest.raises(InputError, match="--trust"):
        scenario(**own)
    folder = run_scenario(scenario(trust=True, **own), tmp_path / "own")
    assert outcomes(folder) == {"declined"}
