"""A real browser for tests: Chromium without a window, spoken to over two pipes in its DevTools protocol.

Law: nothing sleeps and nothing is polled. A test waits for the browser's own events, and a browser that says
nothing for a minute is a failure.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

SILENCE: Final = 60.0  # seconds

# Chromium expects its pipes at 3 and 4, and a child gets others under the numbers that they have here.
_START: Final = """\
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",  # it cannot be had as root in a container, and the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)

Message = dict[str, Any]  # Any: the protocol's JSON


class Browser:
    def __init__(self, reader: int, writer: int) -> None:
        self._reader = reader
        self._writer = writer
        self._read = b""
        self._number = 0
        self.events: list[Message] = []

    def call(self, method: str, session: str | None = None, **params: object) -> Message:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._writer, rest) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: Message = answer["result"]
                return result
            self.events.append(answer)

    def wait(self, method: str, session: str) -> None:
        while not any(each["method"] == method and each.get("sessionId") == session for each in self.events):
            self.events.append(self._next())

    def _next(self) -> Message:
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._reader], [], [], SILENCE)
            assert ready, "the browser says nothing"
            piece = os.read(self._reader, 1 << 16)
            assert piece, "the browser has ended"
            self._read += piece
        text, _, self._read = self._read.partition(b"\0")
        message: Message = json.loads(text)
        return message

    def traced(self, act: Callable[[], object]) -> list[Message]:
        """Record what the browser's threads do meanwhile, and return the events of that trace."""
        self.events.clear()
        categories = ["toplevel", "disabled-by-default-devtools.timeline", "blink.user_timing", "__metadata"]
        config = {"includedCategories": categories}
        self.call("Tracing.start", transferMode="ReportEvents", traceConfig=config)
        act()
        self.call("Tracing.end")
        while not any(each["method"] == "Tracing.tracingComplete" for each in self.events):
            self.events.append(self._next())
        pieces = [each for each in self.events if each["method"] == "Tracing.dataCollected"]
        self.events.clear()
        return [event for piece in pieces for event in piece["params"]["value"]]


class Page:
    """A page that has been loaded. `complaints` are all errors and warnings of its scripts, its style and its
    policy, `requests` all that it has asked for."""

    def __init__(
        self,
        browser: Browser,
        address: Path | str,
        width: int = 1280,
        height: int = 800,
        scheme: str = "light",
        script: str = "",
    ) -> None:
        """Open a file or an address. `script` runs before those of the page."""
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self._target: str = target
        self._session: str = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height, scheme)
        if script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        self.call("Page.navigate", url=address if isinstance(address, str) else address.as_uri())
        browser.wait("Page.loadEventFired", self._session)

    def call(self, method: str, **params: object) -> Message:
        return self._browser.call(method, self._session, **params)

    def resize(self, width: int, height: int, scheme: str) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def close(self) -> None:
        """Close the page, with which the browser has less to do."""
        self._browser.call("Target.closeTarget", targetId=self._target)

    def value(self, expression: str) -> Any:  # Any: whatever the expression comes to
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def awaited(self, promise: str) -> Any:  # Any: whatever the promise comes to
        """Wait for a promise, and return its value."""
        result = self.call("Runtime.evaluate", expression=promise, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def click(self, selector: str) -> None:
        """Click with the mouse, where a reader would click."""
        place: Message = self.value(
            f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
            "found.scrollIntoView({block: 'center', inline: 'center'});"
            "const box = found.getBoundingClientRect();"
            "return {x: box.x + box.width / 2, y: box.y + box.height / 2}; })()"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    @property
    def complaints(self) -> list[Message]:
        self.value("0")  # what the page has said comes before the answer
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event for event in self._events() if event["method"] in kinds]

    @property
    def requests(self) -> list[str]:
        sent = (event for event in self._events() if event["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def _events(self) -> Iterator[Message]:
        return (event for event in self._browser.events if event.get("sessionId") == self._session)


@contextmanager
def started(program: str, directory: Path) -> Generator[Browser]:
    """Start the browser. It keeps its files in `directory`."""
    child_reads, writer = os.pipe()
    reader, child_writes = os.pipe()
    command = [sys.executable, "-c", _START, str(child_reads), str(child_writes), program, *_FLAGS]
    with subprocess.Popen(
        [*command, f"--user-data-dir={directory}", "about:blank"],
        pass_fds=(child_reads, child_writes),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(child_reads)
        os.close(child_writes)
        try:
            browser = Browser(reader, writer)
            yield browser
            browser.call("Browser.close")
        finally:
            os.close(writer)
            os.close(reader)
            if process.poll() is None:
                process.terminate()
