#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the dashboard in Chromium without a window and without a graphics processor, beside a busy venue of one instrument.

usage: measure.py CORRO [REQUESTS_PER_SECOND [SECONDS]]
"""

import gzip
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests", "system"), os.path.dirname(os.path.abspath(__file__))]
from browser import Browser  # noqa: E402
from serve import PageServer  # noqa: E402

DIST = os.path.join(ROOT, "web", "dist")
WARM_S = 3

WHEN_LIVE = """
addEventListener('DOMContentLoaded', () => {
    const state = document.getElementById('connection');
    new MutationObserver(() => {
        if (state.textContent === 'live') window.liveAt ??= performance.now();
    }).observe(state, {childList: true, characterData: true, subtree: true});
});
"""
RECORD_FRAMES = """
window.frames_ = [];
let last = performance.now();
const next = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(next); };
requestAnimationFrame(next);
"""


def configuration(folder):
    """The demonstration's, on free ports, with its first instrument only."""
    with open(os.path.join(ROOT, "config", "demo.toml"), encoding="utf-8") as file:
        text = re.sub(r'"127\.0\.0\.1:70\d\d"', '"127.0.0.1:0"', file.read())
    tables = re.split(r"(?m)^(?=\[\[instrument\]\])", text)
    rest = tables[-1][tables[-1].index("[[account]]"):]
    path = os.path.join(folder, "corro.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(tables[0] + tables[1] + rest)
    return path


def spent(browser):
    """Seconds of processor time of the page's main thread."""
    metrics = browser.request("/goog/cdp/execute", {"cmd": "Performance.getMetrics", "params": {}})["metrics"]
    return {each["name"]: each["value"] for each in metrics}


def main():
    corro, rate, seconds = sys.argv[1], float((sys.argv + ["10000"])[2]), float((sys.argv[2:] + ["", "10"])[1] or 10)
    names = open(os.path.join(DIST, "files.txt"), encoding="utf-8").read().split()
    size = sum(len(gzip.compress(open(os.path.join(DIST, name), "rb").read(), 9)) for name in names)
    print(f"first picture      {len(names)} files, {size} bytes compressed")
    with tempfile.TemporaryDirectory() as folder:
        config = configuration(folder)
        venue = subprocess.Popen([corro, "serve", "--config", config], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        addresses = {}
        for line in venue.stdout:
            if found := re.match(r" +(order entry|API) +(?:ws://)?([\d.:]+)", line):
                addresses[found[1]] = found[2]
            if "Ctrl-C" in line:
                break
        server = PageServer(0, addresses["API"], DIST)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        load = subprocess.Popen([corro, "load", "--config", config, "--venue", addresses["order entry"], "--clients", "4", "--rate", str(rate),
                                 "--messages", str(10 ** 9)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(WARM_S)
            with Browser() as browser:
                cdp = lambda command, **parameters: browser.request("/goog/cdp/execute", {"cmd": command, "params": parameters})
                cdp("Page.addScriptToEvaluateOnNewDocument", source=WHEN_LIVE)
                browser.open(f"http://127.0.0.1:{server.server_address[1]}/")
                browser.wait("a live market", "return window.liveAt")
                print(f"first market       {browser.run('return window.liveAt'):.0f} ms after the navigation")
                browser.run("document.getElementById('tour-dialog').close()")
                time.sleep(WARM_S)
                cdp("Performance.enable", timeDomain="threadTicks")
                browser.run(RECORD_FRAMES)
                before = spent(browser)
                time.sleep(seconds)
                frames = sorted(browser.run("return window.frames_"))
                after = spent(browser)
                count = len(frames)
                print(f"frames             {count / seconds:.1f} a second, P50 {frames[count // 2]:.1f} ms, P99 {frames[int(0.99 * count)]:.1f} ms")
                print(f"main thread        {1000 * (after['TaskDuration'] - before['TaskDuration']) / count:.2f} ms of a processor per frame, of which "
                      f"{1000 * (after['ScriptDuration'] - before['ScriptDuration']) / count:.2f} ms scripts")
                print(f"venue              {browser.text('#change-rate')} changes a second, {browser.text('#byte-rate')} KiB a second")
        finally:
            load.kill()
            load.wait()
            venue.kill()
            venue.wait()
            server.shutdown()


if __name__ == "__main__":
    main()
