"""A headless Chromium, spoken to over its debugging pipe: nothing but the browser has to be installed."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_EXEC = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


def chromium() -> str | None:
    """Return where the browser is."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page; `problems` are its exceptions, `requests` what it fetched."""

    def __init__(self, program, profile):
        reads, self._to = os.pipe()
        self._from, writes = os.pipe()
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (reads, writes)]  # clear of the 3 and 4 they become
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        command = [sys.executable, "-c", _EXEC, *map(str, theirs), program, *options]
        self._process = subprocess.Popen(command, pass_fds=theirs, stderr=subprocess.DEVNULL)
        for fd in (reads, writes, *theirs):
            os.close(fd)
        self._rest, self._count, self._session = b"", 0, None
        self.problems, self.requests = [], []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        """Send a command and return what it answers."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path, *, width=1280, height=900):
        """Load a file and wait for it."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Page.navigate", url=path.as_uri())
        end = time.monotonic() + 60
        while not self.run("location.href !== 'about:blank' && document.readyState === 'complete'"):
            assert time.monotonic() < end, "the page did not load"
            time.sleep(0.05)

    def run(self, script):
        """Return the value of an expression."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key):
        """Press a key."""
        codes = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, "Tab": 9, " ": 32}
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key])

    def click(self, selector, share=0.5):
        """Press the mouse in the middle of an element, or at a share of its width."""
        element = f"document.querySelector({selector!r})"
        self.run(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        place = self.run(f"{element}.getBoundingClientRect().toJSON()")
        x, y = place["x"] + share * place["width"], place["y"] + place["height"] / 2
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def pdf(self):
        """Return the page as it is printed."""
        return base64.b64decode(self.send("Page.printToPDF")["data"])

    def close(self):
        """End the browser."""
        self._process.terminate()
        self._process.wait(20)
        os.close(self._to)
        os.close(self._from)

    def _receive(self):
        while b"\0" not in self._rest:
            data = os.read(self._from, 1 << 16)
            assert data, "the browser ended"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        event = json.loads(message)
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(event["params"])
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"][:80])
        return event
