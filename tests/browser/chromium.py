"""Chromium without a window, asked through pipes by its own protocol (DevTools), so that no driver is needed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
    *("--disable-extensions", "--remote-debugging-pipe"),
)
EVENTS = ("Page", "Runtime", "Log", "Network")


def found() -> str | None:
    """The browser's command, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Chromium:
    """One page of a browser."""

    ask: int
    """Where questions are written."""
    answers: Any
    """Where answers and events are read."""
    session: str = ""
    asked: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """What the browser answers; events that come meanwhile are kept."""
        self.asked += 1
        session = {"sessionId": self.session} if self.session else {}
        question = {"id": self.asked, "method": method, "params": params, **session}
        os.write(self.ask, json.dumps(question).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self.asked:
                assert "error" not in message, message
                answer: dict[str, Any] = message["result"]
                return answer

    def open(self, page: Path) -> None:
        """Load a file, all of it."""
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._next()

    def look(self, width: int, scheme: str) -> None:
        """Make the window so wide, and light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme_wanted = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[scheme_wanted])

    def value(self, expression: str) -> Any:
        """What JavaScript says of the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"]["value"]

    def problems(self) -> list[dict[str, Any]]:
        """What the console holds, and what was asked of a network."""
        said = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [event for event in self.events if event["method"] in said or _leaves(event)]

    def _next(self) -> dict[str, Any]:
        text = b""
        while not text.endswith(b"\0"):
            piece = self.answers.read(1)
            assert piece, "the browser has ended"
            text += piece
        message: dict[str, Any] = json.loads(text[:-1])
        if "method" in message:
            self.events.append(message)
        return message


def _leaves(event: dict[str, Any]) -> bool:
    if event["method"] != "Network.requestWillBeSent":
        return False
    return not event["params"]["request"]["url"].startswith(("file:", "data:"))


@contextmanager
def chromium() -> Iterator[Chromium]:
    """A browser with one page, ended afterwards."""
    (its_in, ask), (answers, its_out) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory() as profile:
        words = [str(found()), *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        command = f"exec {shlex.join(words)} 3<&{its_in} 4>&{its_out}"
        process = subprocess.Popen(
            ["bash", "-c", command],
            pass_fds=(its_in, its_out),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(its_in)
        os.close(its_out)
        with os.fdopen(answers, "rb") as reading:
            browser = Chromium(ask, reading)
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for name in EVENTS:
                browser.call(f"{name}.enable")
            try:
                yield browser
            finally:
                browser.session = ""
                browser.call("Browser.close")
                os.close(ask)
                process.wait(timeout=30)
