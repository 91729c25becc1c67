"""A headless Chromium driven by the DevTools protocol over a pipe: pages, what they show, and input."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import zlib
from typing import Any, Callable

BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 60.0


class Browser:
    """A process of its own, with a profile of its own."""

    def __init__(self) -> None:
        assert BROWSER is not None
        self._profile = tempfile.TemporaryDirectory(prefix="gm", ignore_cleanup_errors=True)
        (theirs_in, self._out), (self._in, theirs_out) = os.pipe(), os.pipe()

        def arrange() -> None:
            # Above all others first: either may be 3 or 4 itself.
            command, answer = os.dup(theirs_in), os.dup(theirs_out)
            command, answer = (os.dup2(each, to) for each, to in ((command, 103), (answer, 104)))
            os.dup2(command, 3)
            os.dup2(answer, 4)

        self._process = subprocess.Popen(
            [BROWSER, "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--remote-debugging-pipe",
             "--hide-scrollbars", f"--user-data-dir={self._profile.name}", "--disable-background-networking", "about:blank"],
            close_fds=False, preexec_fn=arrange, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""
        self._id = 0
        self.events: list[dict[str, Any]] = []

    def page(self, url: str, width: int = 800, height: int = 600) -> Page:
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        page.call("Page.navigate", {"url": url})
        return page

    def call(self, method: str, params: dict[str, Any] | None = None, session: str | None = None) -> Any:
        self._id += 1
        message = {"id": self._id, "method": method, "params": params or {}}
        os.write(self._out, json.dumps(message if session is None else {**message, "sessionId": session}).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(end)
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _receive(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()


class Page:
    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target

    def call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        return self._browser.call(method, params, self._session)

    def value(self, expression: str) -> Any:
        """The value of an expression, or of the promise that it is."""
        made = self.call("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in made:
            raise RuntimeError(made["exceptionDetails"].get("exception", {}).get("description", made["exceptionDetails"]))
        return made["result"].get("value")

    def until(self, expression: str, holds: Callable[[Any], Any] = bool) -> Any:
        """The value, once it is one that holds; it is looked at for each picture that the page draws."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                found = self.value(expression)
                if holds(found):
                    return found
            except RuntimeError as error:
                # The page is not there yet.
                found = error
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} is {found!r}; the page said {self.said()}")
            self.value("new Promise((done) => setTimeout(done, 20))")

    def said(self) -> list[str]:
        """What the page wrote to its console, and which requests were refused."""
        return [json.dumps(each["params"])[:400] for each in self._browser.events
                if each.get("sessionId") == self._session
                and each["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Network.loadingFailed")]

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def click(self, x: float, y: float) -> None:
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for step in range(1, steps + 1):
            at = [a + (b - a) * step / steps for a, b in zip(start, end)]
            self.mouse("mouseMoved", at[0], at[1], button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)

    def picture(self) -> Picture:
        return Picture(base64.b64decode(self.call("Page.captureScreenshot", {"format": "png"})["data"]))

    def close(self) -> None:
        self._browser.call("Target.closeTarget", {"targetId": self._target})


class Picture:
    """The pixels of a PNG with 8 bits a channel, as browsers make them."""

    def __init__(self, data: bytes) -> None:
        self.png = data
        self.width, self.height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
        self._size = 4 if data[25] == 6 else 3
        at, packed = 8, b""
        while at < len(data):
            count = int.from_bytes(data[at:at + 4], "big")
            if data[at + 4:at + 8] == b"IDAT":
                packed += data[at + 8:at + 8 + count]
            at += count + 12
        raw, stride = zlib.decompress(packed), self.width * self._size
        self._rows: list[bytearray] = []
        before = bytearray(stride)
        for y in range(self.height):
            start = y * (stride + 1)
            before = self._unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + stride]), before)
            self._rows.append(before)

    def _unfiltered(self, kind: int, row: bytearray, above: bytearray) -> bytearray:
        size = self._size
        for index in range(len(row) if kind else 0):
            left, up = row[index - size] if index >= size else 0, above[index]
            corner = above[index - size] if index >= size else 0
            if kind == 4:
                by_left, by_up, by_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                guess = left if by_left <= by_up and by_left <= by_corner else up if by_up <= by_corner else corner
            else:
                guess = (0, left, up, (left + up) // 2)[kind]
            row[index] = (row[index] + guess) & 0xFF
        return row

    def __getitem__(self, at: tuple[int, int]) -> tuple[int, ...]:
        x, y = at
        return tuple(self._rows[y][x * self._size:x * self._size + 3])
