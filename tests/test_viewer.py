"""``examples/viewer.py`` under SolaraViz in a browser without a network (extra ``[viz]``)."""

import os
import re
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.browser import CHROMIUM, Browser

ROOT = Path(__file__).parents[1]
PICTURES = "[...document.querySelectorAll('img')].map(one => one.src).filter(one => one)"
PATIENCE = 120.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed"),
    pytest.mark.skipif(
        find_spec("solara") is None or find_spec("solara_assets") is None,
        reason="needs the extra [viz]",
    ),
]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def address(tmp_path):
    """The address of the viewer, which answers."""
    port, log = free_port(), tmp_path / "solara.log"
    options = ["--no-open", "--production", "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "solara", "run", str(ROOT / "examples/viewer.py"), *options],
            env=environment,
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        url, end = f"http://127.0.0.1:{port}/", time.monotonic() + PATIENCE
        while not answers(url):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def answers(url):
    try:
        return urlopen(url, timeout=30).status == 200
    except URLError:
        return False


def test_the_viewer_steps_and_starts_anew_in_a_browser_and_asks_nobody_else(address):
    with Browser(1440, 1000) as browser:
        browser.send("Page.navigate", url=address)
        browser.until(f"{PICTURES}.length === 3")
        before = browser.value(PICTURES)
        for step in range(1, 6):
            browser.click("button", "Step")
            browser.until(f"document.body.innerText.includes('Step: {step}')")
        browser.until(f"{PICTURES}.length === 3 && {PICTURES}[1] !== {before[1]!r}")
        browser.click("button", "Reset")
        browser.until("document.body.innerText.includes('Step: 0')")
        sent = [url for url in browser.requests() if not url.startswith(("data:", "blob:"))]
        assert len(sent) > 10
        assert not [url for url in sent if not re.match(r"(http|ws)://127\.0\.0\.1:", url)]
        thrown = [name for name, _ in browser.events if name == "Runtime.exceptionThrown"]
        assert not thrown
