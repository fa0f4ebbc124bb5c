"""A field of known parameters as an ecosystem, and a forecast of it that takes seconds."""

import pytest
from typer.testing import CliRunner

from tests.scenarios.calibration.conftest import BASE, simulated_papers, write_jsonl
from virsci_society.scenarios.calibration.simulation import assembly_simulator
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.forecasting.forecast import forecast_ecosystem


@pytest.fixture(scope="session")
def papers(tmp_path_factory):
    """Papers of a synthetic field, 1995 to 2011."""
    base = tmp_path_factory.mktemp("base") / "base.yaml"
    base.write_text(BASE, encoding="utf-8")
    return simulated_papers(assembly_simulator(load_scenario(base), None))


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """A function that builds an ecosystem of some papers and returns its folder."""

    def made(papers, boundary, name="eco"):
        place = tmp_path_factory.mktemp("field")
        write_jsonl(place / "papers.jsonl", papers)
        build = ("ecosystem", "build", "jsonl", str(place / "papers.jsonl"))
        options = ("--boundary", str(boundary), "--no-abstract-required", "--out")
        done = CliRunner().invoke(app, [*build, *options, str(place / name)])
        assert done.exit_code == 0, done.output
        return place / name

    return made


@pytest.fixture(scope="session")
def eco(build, papers):
    """The ecosystem at 2009."""
    return build(papers, 2009)


@pytest.fixture(scope="session")
def made(eco):
    """The forecast of the year 2009."""
    return forecast_ecosystem(eco, 2009)
