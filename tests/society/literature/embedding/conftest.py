"""A table of vectors for each test."""

import pytest


@pytest.fixture(autouse=True)
def kept(tmp_path_factory, monkeypatch):
    """The folder of the table, which is empty at first."""
    folder = tmp_path_factory.mktemp("kept")
    monkeypatch.setenv("SOCIETY_CACHE", str(folder))
    return folder
