"""The comparison with other systems: versions are pinned, and the table's arithmetic is right."""

import json
import os
import subprocess
import sys

import pytest

from benchmarks.peers import __main__ as peers
from benchmarks.peers.registry import HERE, PEERS
from benchmarks.peers.results import ideal_seconds, row_of

INSTALLED = [peer for peer in PEERS if peer.package]


def test_every_adapter_is_there_and_is_one_of_a_row():
    of_rows = {peer.adapter for peer in PEERS}
    assert of_rows <= {path.name for path in HERE.glob("*.py")}
    drivers = {path.name for path in HERE.glob("*.py") if "read_work()" in path.read_text("utf-8")}
    assert drivers - {"work.py"} == of_rows


@pytest.mark.parametrize("peer", INSTALLED, ids=lambda peer: peer.package)
def test_every_package_of_an_environment_has_one_version(peer):
    pins = [line for line in peer.lock.read_text("utf-8").splitlines() if line[:1] != "#"]
    assert f"{peer.package}=={peer.version}" in pins
    assert all(pin.count("==") == 1 and "@" not in pin for pin in pins)


def test_the_share_is_of_the_slots_or_of_the_longest_chain():
    assert ideal_seconds(calls=640, chain=10, latency=0.2, slots=64) == pytest.approx(2.0)
    assert ideal_seconds(calls=6400, chain=10, latency=0.2, slots=64) == pytest.approx(20.0)
    assert ideal_seconds(calls=80, chain=80, latency=0.2, slots=64) == pytest.approx(16.0)
    figures = {"wall": 4.0, "cpu": 1.28, "MB peak": 99.6}
    row = row_of("x 1", 64, 64, 0.2, 640, figures)
    assert (row.work, row.share, row.cpu) == ("64 x 10", pytest.approx(0.5), pytest.approx(2.0))
    own = row_of("x 1", 64, 64, 0.2, 640, figures | {"ideal": 3.0})
    assert own.share == pytest.approx(0.75)


SAYS = """
import sys
print("noise {")
print('{"wall": 1.0}')
print("more noise")
sys.exit(int(sys.argv[1]))
"""


def test_the_figures_of_a_run_are_its_last_line_of_json(tmp_path):
    output = tmp_path / "output.txt"
    run = peers.start([sys.executable, "-S", "-c", SAYS, "0"], output)
    assert peers.finish(run, output, 60.0) == {"wall": 1.0}
    with pytest.raises(peers.Failed, match="more noise"):
        peers.finish(peers.start([sys.executable, "-S", "-c", SAYS, "1"], output), output, 60.0)


def test_the_ceiling_makes_every_call_once(tmp_path):
    with peers.FaultServer() as server:
        peer = PEERS[0]
        line = peers.command(peer, sys.executable, server.url, (5, 3), tmp_path)
        environment = os.environ | {"PYTHONPATH": ""}
        done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
        counts = server.counts()
    assert (counts["answers"], counts["calls"], counts["repeated_answers"]) == (15, 15, 0)
    assert json.loads(done.stdout)["wall"] > 0.0
