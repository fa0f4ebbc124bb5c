"""A headless Chromium with one page, which tests and benchmarks drive through Playwright."""

import re
import shutil
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
TIMEOUT = 120_000.0
"""Milliseconds after which a browser that does not answer is given up."""


class Browser:
    """One browser with one page; no event loop may run in its thread while it is open."""

    def __init__(self, width=1440, height=900, dark=False):
        from playwright.sync_api import sync_playwright

        self._driver = sync_playwright().start()
        self._browser = self._driver.chromium.launch(executable_path=CHROMIUM)
        self.page = self._browser.new_page(color_scheme="dark" if dark else "light")
        self.page.set_default_timeout(TIMEOUT)
        self._session = self.page.context.new_cdp_session(self.page)
        self._requests, self._complaints = [], []
        self.page.on("request", lambda request: self._requests.append(request.url))
        self.page.on("pageerror", lambda error: self._complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._browser.close()
        self._driver.stop()

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self._complaints.append(message.text)

    def send(self, method, **parameters):
        """Send a command of the debugging protocol and return its result."""
        return self._session.send(method, parameters)

    def size(self, width, height):
        """Set the size of the window, in CSS pixels; narrow ones are phones."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.send("Emulation.setDeviceMetricsOverride", **metrics, mobile=width < 600)

    def open(self, path):
        """Open a file, and return once it is loaded."""
        self._requests.clear()
        self._complaints.clear()
        self.page.goto(Path(path).resolve().as_uri())

    def until(self, expression):
        """Wait for a JavaScript expression to be true."""
        for _ in range(int(TIMEOUT / 20)):
            if self.value(expression):
                return
            self.page.wait_for_timeout(20)
        raise TimeoutError(f"never came true: {expression}")

    def value(self, expression):
        """Return the value of a JavaScript expression, which may be a promise.

        Playwright's own ``evaluate`` is blocked by the policy of a page, the debugger is not.
        """
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        done = self.send("Runtime.evaluate", **asked)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def click(self, selector, text=""):
        """Click the first element of a selector, or the first one with this text."""
        elements = self.page.locator(selector)
        if text:
            elements = elements.filter(has_text=re.compile(rf"^\s*{re.escape(text)}\s*$"))
        elements.first.click()

    def requests(self):
        """Addresses of all requests since the page was opened, its own left out."""
        return self._requests[1:]

    def complaints(self):
        """Errors of the console, exceptions and whatever a policy has blocked."""
        return self._complaints
