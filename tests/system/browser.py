# SPDX-License-Identifier: Apache-2.0
"""A browser without a window: Debian's Chromium through its chromedriver, by the WebDriver protocol."""

import base64
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

TIME_LIMIT_S = 30
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def missing():
    """Why there is no browser; None if there is one."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not installed (packages chromium, chromium-driver)"
    return None


class Browser:
    """A page of a browser; a context manager."""

    def __init__(self, width=1600, height=1000):
        self.size = (width, height)

    def __enter__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       start_new_session=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.url = f"http://127.0.0.1:{line.rstrip().rstrip('.').rsplit(' ', 1)[1]}"
                break
        else:
            raise AssertionError("chromedriver ended early")
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                            f"--window-size={self.size[0]},{self.size[1]}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            session = self.request("/session", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self.end_driver()
            raise
        self.url += f"/session/{session['sessionId']}"
        return self

    def __exit__(self, *unused):
        try:
            self.request("", method="DELETE")
        finally:
            self.end_driver()

    def end_driver(self):
        # With the browser, if it is still there: they are a group of processes.
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
        self.driver.stdout.close()

    def request(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=2 * TIME_LIMIT_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def open(self, address):
        self.request("/url", {"url": address})

    def run(self, script, *arguments):
        """The result of the body of a function, which may be a promise."""
        return self.request("/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def wait(self, what, script, *arguments, seconds=TIME_LIMIT_S):
        """Until the body of a function returns something that is true; returns it."""
        end = time.monotonic() + seconds
        while True:
            if value := self.run(script, *arguments):
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}; the page says: {self.text('#notes')}")
            time.sleep(0.05)

    def find(self, selector):
        return self.request("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        """As a person does: with the mouse, at a place where nothing covers it; as soon as it is there."""
        self.wait(selector, "return document.querySelector(arguments[0]) !== null", selector)
        self.request(f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        found = self.find(selector)
        self.request(f"/element/{found}/clear", {})
        self.request(f"/element/{found}/value", {"text": text})

    def press(self, key):
        self.request("/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def drag(self, selector, to_x, to_y, start=(0, 0), key=None):
        """With the mouse, from a place to another, both from the middle of an element; with a key down."""
        origin = {ELEMENT: self.find(selector)}
        wait = {"type": "pause", "duration": 0}
        sources = [{"type": "pointer", "id": "mouse", "actions": [
            wait, {"type": "pointerMove", "origin": origin, "x": start[0], "y": start[1]}, {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "origin": origin, "x": to_x, "y": to_y, "duration": 100}, {"type": "pointerUp", "button": 0}, wait]}]
        if key:
            keys = [{"type": "keyDown", "value": key}, wait, wait, wait, wait, {"type": "keyUp", "value": key}]
            sources.insert(0, {"type": "key", "id": "keys", "actions": keys})
        self.request("/actions", {"actions": sources})

    def complaints(self):
        """What the browser wrote into its console as errors since the last call."""
        return [entry["message"] for entry in self.request("/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def resize(self, width, height):
        self.request("/window/rect", {"width": width, "height": height})

    def shot(self, clip=None, quality=80):
        """What the window shows, or a part of the page, as WebP."""
        command = {"cmd": "Page.captureScreenshot", "params": {"format": "webp", "quality": quality, **({"clip": clip} if clip else {})}}
        return base64.b64decode(self.request("/goog/cdp/execute", command)["data"])

    def picture(self, path, clip=None):
        with open(path, "wb") as file:
            file.write(self.shot(clip))
