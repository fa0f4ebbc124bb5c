"""A headless Chromium that tests and benchmarks drive through its debugging pipe.

Commands and events are JSON messages that end with a NUL byte, written to file descriptor 3 of the
browser and read from its descriptor 4, so neither a port nor a websocket is needed.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-sync --disable-quic "
    "--disable-background-networking --disable-component-update --hide-scrollbars "
    "--remote-debugging-pipe"
)
PATIENCE = 120.0
"""Seconds after which a browser that does not answer is given up."""

MIDDLE = """(selector, text) => {
  const all = [...document.querySelectorAll(selector)];
  const one = all.find((e) => text === null || e.textContent.trim() === text);
  if (!one) return null;
  one.scrollIntoView({ block: "center" });
  const box = one.getClientRects()[0];
  return [box.left + box.width / 2, box.top + box.height / 2];
}"""


class Browser:
    """One browser with one page."""

    def __init__(self, width=1440, height=900, dark=False, script=True):
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        reads, writes = os.pipe(), os.pipe()

        def pipes():
            # Duplicated twice: the descriptors may be 3 and 4 themselves.
            inward, outward = os.dup(reads[0]), os.dup(writes[1])
            os.dup2(inward, 3)
            os.dup2(outward, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, *OPTIONS.split(), f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads[0])
        os.close(writes[1])
        self._out, self._in, self._rest = reads[1], writes[0], b""
        self.events, self._number, self._session = [], 0, None
        pages = self.send("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.size(width, height)
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=theme)
        self.send("Emulation.setScriptExecutionDisabled", value=not script)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the browser and remove its profile."""
        self.process.kill()
        self.process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, **parameters):
        """The result of one command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive(PATIENCE)
            if answer is None:
                raise TimeoutError(f"{method}: the browser does not answer")
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _receive(self, seconds):
        """The next message, also kept if it is an event; None after so many seconds."""
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], seconds)[0]:
                return None
            self._rest += os.read(self._in, 1 << 16)
        message, self._rest = self._rest.split(b"\0", 1)
        found = json.loads(message)
        if "method" in found:
            self.events.append((found["method"], found["params"]))
        return found

    def size(self, width, height):
        """Set the size of the window, in CSS pixels; narrow ones are phones."""
        narrow = width < 600
        self.send(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": narrow},
        )

    def open(self, path, fragment=""):
        """Open a file, and return once its load event is there."""
        self.events.clear()
        self.send("Page.navigate", url=Path(path).resolve().as_uri() + fragment)
        self.until(lambda: any(name == "Page.loadEventFired" for name, _ in self.events))

    def until(self, condition):
        """Wait for a condition, or for a JavaScript expression to be true."""
        end = time.monotonic() + PATIENCE
        while not (self.value(condition) if isinstance(condition, str) else condition()):
            if time.monotonic() > end:
                raise TimeoutError(f"never came true: {condition}")
            self._receive(0.02)

    def value(self, expression):
        """The value of a JavaScript expression, which may be a promise."""
        done = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in done:
            raise RuntimeError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def mouse(self, kind, x, y, **more):
        """One mouse event: mousePressed, mouseMoved, mouseReleased."""
        given = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1, **more}
        self.send("Input.dispatchMouseEvent", **given)

    def click(self, selector, text=None):
        """Click the first element of a selector, or the first one with this text, in its middle."""
        where = self.value(f"({MIDDLE})({json.dumps(selector)}, {json.dumps(text)})")
        if where is None:
            raise LookupError(f"no {selector} with the text {text!r}")
        self.mouse("mousePressed", *where, buttons=1)
        self.mouse("mouseReleased", *where)

    def key(self, key, text="", code=0):
        """Press and release one key; without its code, Tab and Enter do nothing."""
        named = {"key": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self.send("Input.dispatchKeyEvent", type="keyUp", **named)

    def shot(self, path):
        """Write a picture of the window."""
        taken = self.send("Page.captureScreenshot")
        Path(path).write_bytes(base64.b64decode(taken["data"]))

    def requests(self):
        """Addresses of all requests since the page was opened, its own left out."""
        sent = [given["request"]["url"] for name, given in self.events if name.endswith("BeSent")]
        return sent[1:]

    def complaints(self):
        """Errors of the console, exceptions and whatever a policy has blocked."""
        found = [str(given) for name, given in self.events if name == "Runtime.exceptionThrown"]
        found += [
            str(given["entry"]["text"])
            for name, given in self.events
            if name == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning")
        ]
        return found + [
            str(given["args"])
            for name, given in self.events
            if name == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning")
        ]
