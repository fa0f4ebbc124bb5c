"""The folder of real samples, where it is there."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[5] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data; tests that need it are skipped where it is not there."""
    if not (DATA / "formats").is_dir():
        pytest.skip("the folder with the real samples is not beside the repository")
    return DATA
