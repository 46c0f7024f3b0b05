# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless browser for tests of pages: what of the Chrome DevTools Protocol that takes, over the pipe that Chromium offers
(--remote-debugging-pipe: it reads file descriptor 3 and writes 4, JSON messages that end with a zero byte). Nothing but the
browser itself is needed.

    with Browser() as page:
        page.open(path)
        page.click("#button")
        assert page.evaluate("document.title") == "…" and not page.errors
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """The path of an installed browser; LATEWOOD_BROWSER names another one."""
    named = os.environ.get("LATEWOOD_BROWSER")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page. `errors`: what went wrong in its scripts, and what it wrote to the console as errors."""

    def __init__(self, width: int = 1320, height: int = 1000, timeout: float = 120.0):
        self.size, self.timeout = (width, height), timeout
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._number = 0
        self._pending = b""

    def __enter__(self) -> Browser:
        binary = find_browser()
        assert binary, "no browser"
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()
        self._take, self._give = theirs[0], ours[1]
        width, height = self.size
        command = [
            binary,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ]
        command += [
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile.name}",
            f"--window-size={width},{height}",
        ]
        # The shell puts the pipes where the browser looks for them, through numbers that are neither 3 nor 4.
        place = f'exec "$@" 7<&{ours[0]} 8>&{theirs[1]} 3<&7 4>&8 7<&- 8>&-'
        self._process = subprocess.Popen(
            ["bash", "-c", place, "bash", *command, "about:blank"],
            pass_fds=(ours[0], theirs[1]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # What is loaded into this process (a sanitizer) is not for the browser.
            env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
        )
        os.close(ours[0])
        os.close(theirs[1])
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._give)
        os.close(self._take)
        self._profile.cleanup()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command and returns its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if hasattr(self, "_session"):
            message["sessionId"] = self._session
        os.write(self._give, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            assert select.select([self._take], [], [], self.timeout)[0], "the browser does not answer"
            data = os.read(self._take, 1 << 20)
            assert data, "the browser has ended"
            self._pending += data
        message, _, self._pending = self._pending.partition(b"\0")
        event = json.loads(message)
        self._note(event.get("method"), event.get("params", {}))
        return event

    def _note(self, method: str | None, event: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] == "error":
            self.errors.append(str([argument.get("value") for argument in event["args"]]))
        elif method == "Log.entryAdded" and event["entry"]["level"] == "error":
            self.errors.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])

    def open(self, path: Path) -> None:
        self.send("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + self.timeout
        while self.evaluate("location.href === 'about:blank' || document.readyState !== 'complete'"):
            assert time.monotonic() < end, "the page does not finish loading"
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def click(self, selector: str) -> None:
        """A click with the mouse in the middle of what the selector finds first."""
        find = f"(e => {{ e.scrollIntoView({{block: 'center'}}); return e.getBoundingClientRect(); }})({self._element(selector)})"
        box = self.evaluate(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({find})")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def type(self, selector: str, text: str) -> None:
        self.click(selector)
        self.send("Input.insertText", text=text)

    def choose(self, selector: str, value: str) -> None:
        """Takes an entry of a list, as a user's choice."""
        self.evaluate(
            f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change')); }})({self._element(selector)})"
        )

    def _element(self, selector: str) -> str:
        return f"document.querySelector({json.dumps(selector)})"

    def screenshot(self, path: Path, clip: tuple[float, float, float, float] | None = None) -> None:
        """A picture (PNG) of the whole page, or of x, y, width, height of it."""
        parameters: dict[str, Any] = {"format": "png", "captureBeyondViewport": True}
        if clip:
            parameters["clip"] = dict(zip(("x", "y", "width", "height", "scale"), (*clip, 1), strict=True))
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", **parameters)["data"]))
