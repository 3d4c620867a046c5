"""Chromium without a window, driven over a pipe by its DevTools protocol."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

SWITCHES = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe",
]  # fmt: skip
PATIENCE_S = 60


class PageLeftError(Exception):
    """The page that was asked gave way to another one."""


class Browser:
    """A process of Chromium; `open` gives a tab."""

    def __init__(self):
        self._profile = tempfile.mkdtemp(prefix="rse-browser-")
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # Chromium reads descriptor 3 and writes to 4.
        line = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        profile, quiet = f"--user-data-dir={self._profile}", subprocess.DEVNULL
        command = ["bash", "-c", line, "chromium", *SWITCHES, profile, "about:blank"]
        pipes = (theirs_in, theirs_out)
        self._process = subprocess.Popen(command, pass_fds=pipes, stdout=quiet, stderr=quiet)
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest, self._last_id, self.events = b"", 0, []

    def close(self):
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def send(self, method, session="", **params):
        """The answer to one command; events that come meanwhile are kept."""
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params}
        message |= {"sessionId": session} if session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._receive()
            if found.get("id") == self._last_id:
                if "navigated" in str(found.get("error", "")):
                    raise PageLeftError
                assert "error" not in found, found["error"]
                return found["result"]

    def _receive(self, patience_s=PATIENCE_S):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], patience_s)
            assert ready, "the browser says nothing"
            part = os.read(self._in, 1 << 20)
            assert part, "the browser is gone"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        found = json.loads(line)
        if "method" in found:
            self.events.append(found)
        return found

    def open(self, path, width=1280, height=900, theme="light"):
        """A tab with a file, once it has loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, target, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.send(f"{domain}.enable")
        tab.resize(width, height)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        tab.send("Emulation.setEmulatedMedia", features=features)
        tab.go(path)
        return tab


class Tab:
    """One page: what it says, what a reader does with it, what went wrong."""

    def __init__(self, browser, target, session):
        self._browser, self._target, self._session = browser, target, session

    def send(self, method, **params):
        return self._browser.send(method, self._session, **params)

    def go(self, path):
        url = path if isinstance(path, str) else Path(path).as_uri()
        self.send("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(url)})")

    def resize(self, width, height=900):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def say(self, code):
        """The value of an expression; of a promise, what it comes to."""
        answer = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, code, patience_s=PATIENCE_S):
        """Until an expression is true."""
        deadline = time.monotonic() + patience_s
        while not self._holds(code):
            assert time.monotonic() < deadline, f"never true: {code}"
            time.sleep(0.05)

    def _holds(self, code):
        try:
            return self.say(f"!!({code})")
        except PageLeftError:
            return False

    def click(self, selector):
        """A click of the mouse in the middle of an element."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle(self, selector):
        """Where an element is, after it came into sight."""
        return self.say(
            f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
            "found.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const box = found.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )

    def press(self, key, code=0, text=""):
        """A key, by its name."""
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text
            )

    def download_to(self, folder):
        self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    @property
    def problems(self):
        """Errors and warnings of the console, exceptions, refused content, and requests of this tab."""
        mine = [one for one in self._browser.events if one.get("sessionId") == self._session]
        found = []
        for event in mine:
            params = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    found.append(str(params["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                    found.append(str(params["args"]))
                case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                    found.append(params["entry"]["text"])
                case "Network.requestWillBeSent":
                    url = params["request"]["url"]
                    found += [] if url.startswith(("file:", "data:", "blob:")) else [f"requested {url}"]
        return found

    def close(self):
        self._browser.send("Target.closeTarget", targetId=self._target)


def saved(folder, name, patience_s=PATIENCE_S):
    """The file a click has saved, once it is whole."""
    deadline, path = time.monotonic() + patience_s, Path(folder) / name
    while not path.exists():
        assert time.monotonic() < deadline, f"nobody saved {name}: {os.listdir(folder)}"
        time.sleep(0.05)
    return path
