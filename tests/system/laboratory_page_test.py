#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The laboratory's page in a real browser: every panel shows what the API says.

usage: laboratory_page_test.py CORRO_MARKET SOURCE_FOLDER
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from browser import Browser, missing

PROGRAM, SOURCE = sys.argv[1], sys.argv[2]
TIME_LIMIT_S = 60
AXE = os.path.join(SOURCE, "web", "node_modules", "axe-core", "axe.min.js")
AGENTS = """return [...document.querySelectorAll('#agents tr')].map((row) => [...row.cells].map((cell) => cell.textContent));"""


@unittest.skipIf(missing(), missing())
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.scenario = os.path.join(cls.folder.name, "calm.toml")
        with open(os.path.join(SOURCE, "config", "markets", "calm.toml"), encoding="utf-8") as file:
            text = file.read().replace('"300s"', '"40s"')
        with open(cls.scenario, "w", encoding="utf-8") as file:
            file.write(text)
        cls.browser = Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def setUp(self):
        self.port = 0
        self.start()
        self.load()

    def start(self):
        self.program = subprocess.Popen([PROGRAM, "lab", self.scenario, "--seed", "3", "--listen", f"127.0.0.1:{self.port}"],
                                        stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.port = int(re.search(r":(\d+)/$", self.program.stdout.readline())[1])

    def end(self):
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGINT)
            self.assertEqual(self.program.wait(TIME_LIMIT_S), 0)
        self.program.stdout.close()

    def load(self):
        self.browser.open(f"http://127.0.0.1:{self.port}/")
        self.wait_for_text("#state", "paused")

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/lab/v1/{path}", data, timeout=TIME_LIMIT_S) as answer:
            return json.load(answer)

    def wait_for_text(self, selector, text):
        self.browser.wait(f"{selector}: {text}", "return document.querySelector(arguments[0])?.textContent === arguments[1]", selector, text)

    def choose(self, selector, value):
        self.browser.run("""const field = document.querySelector(arguments[0]); field.value = arguments[1];
            field.dispatchEvent(new Event('change', {bubbles: true}));""", selector, str(value))

    def go(self, seconds):
        """Then the page shows that moment."""
        self.choose("#moment", seconds)
        self.wait_for_text("#time", f"0:{seconds:04.1f}")
        state = self.ask("state")
        self.wait_for_text("#digest", state["digest"])
        return state

    def test_shows_what_the_api_says(self):
        self.choose("#step-length", 10)
        self.browser.click("#step")
        self.wait_for_text("#time", "0:10.0")
        state = self.ask("state")
        self.assertEqual(state["time_ns"], 10_000_000_000)
        tick = state["instruments"][0]["tick_size"]
        self.wait_for_text("#digest", state["digest"])
        for selector, value in (("#best-bid", state["bids"][0][0] * tick), ("#best-ask", state["asks"][0][0] * tick), ("#volume", state["volume"]),
                                ("#trades", state["trades"]), ("#commands", state["commands"])):
            self.assertEqual(float(self.browser.text(selector)), value, selector)
        self.browser.wait("the agents of the API", """
            const shown = (() => {""" + AGENTS + """})();
            return shown.length === arguments[0].length && shown.every((row, k) => row[0] === arguments[0][k].name &&
                row[1] === String(arguments[0][k].lots) && row[4] === String(arguments[0][k].requests) && row[5] === String(arguments[0][k].fills));""",
                          state["agents"])
        metrics = self.browser.run("""return Object.fromEntries([...document.querySelectorAll('#metrics tr')].map((row) =>
            [row.cells[0].textContent, Number(row.cells[1].textContent)]));""")
        self.assertEqual(set(metrics), set(state["metrics"]))
        for name, value in state["metrics"].items():
            self.assertAlmostEqual(metrics[name], value, delta=1e-4 * abs(value))
        ladder = self.browser.run("""return [...document.querySelectorAll('#ladder tbody tr')].map((row) =>
            [2, 1, 3].map((k) => Number((row.cells[k].querySelector('span') ?? row.cells[k]).textContent)));""")
        sizes = {round(price / tick): (bid, ask) for price, bid, ask in ladder}
        for side, levels in enumerate((state["bids"], state["asks"])):
            for price, lots in levels[:5]:
                self.assertEqual(sizes[price][side], lots)
        # The heatmap has a picture of more than one colour.
        colours = self.browser.run("""const canvas = document.querySelector('#heatmap');
            const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width - 80, canvas.height - 30).data.buffer);
            return new Set(pixels).size;""")
        self.assertGreater(colours, 8)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#quality canvas').length"), 6)

    def test_runs_and_pauses_by_button_and_key(self):
        self.choose("#speed", 10)
        self.browser.click("#run")
        self.wait_for_text("#state", "running")
        self.browser.wait("time passes", "return document.querySelector('#time').textContent > '0:02.0'")
        self.browser.run("document.activeElement.blur()")
        self.browser.press(" ")
        self.wait_for_text("#state", "paused")
        self.assertEqual(self.ask("state")["state"], "paused")
        self.browser.press(".")
        self.choose("#seed", 4)
        self.browser.click("#restart")
        self.wait_for_text("#seed-now", "4")
        self.wait_for_text("#time", "0:00.0")

    def test_sorts_the_agents(self):
        self.go(20)
        # The table of the agents is drawn after the head.
        self.browser.wait("fills", "return [...document.querySelectorAll('#agents tr')].some((row) => Number(row.cells[5].textContent) > 0)")
        self.browser.click("#agents-head th:nth-child(6) button")
        fills = [int(row[5]) for row in self.browser.run(AGENTS)]
        self.assertEqual(fills, sorted(fills, reverse=True))
        self.assertGreater(fills[0], fills[-1])
        self.assertEqual(self.browser.run("return document.querySelector('#agents-head th:nth-child(6)').ariaSort"), "descending")
        self.browser.click("#agents-head th:nth-child(6) button")
        fills = [int(row[5]) for row in self.browser.run(AGENTS)]
        self.assertEqual(fills, sorted(fills))

    def test_an_injected_halt_shows(self):
        self.go(5)
        self.assertEqual(self.browser.text("#phase"), "continuous")
        self.browser.type("#change-length", "3s")
        self.browser.click("#change-now")
        self.wait_for_text("#phase", "halted")
        self.assertEqual(self.ask("state")["phase"], "halted")
        self.wait_for_text("#events-injected", "1")
        self.assertIn("0:05.0", self.browser.text("#events"))
        self.go(9)
        self.wait_for_text("#phase", "continuous")
        # What the server refuses is shown.
        self.browser.type("#change-length", "long")
        self.browser.click("#change-now")
        self.browser.wait("the refusal", "return document.querySelector('#notes .bad')?.textContent.includes('expected a duration')")

    def test_the_changed_scenario_can_be_saved(self):
        self.go(5)
        self.ask("inject", {"kind": "news", "fundamental": self.ask("state")["fundamentals"][0], "ticks": -40})
        self.wait_for_text("#events-injected", "1")
        address = self.browser.run("return document.querySelector('a[download]').href")
        with urllib.request.urlopen(address, timeout=TIME_LIMIT_S) as answer:
            self.assertIn('kind = "news"', answer.read().decode())

    def test_a_size_of_the_ladder_fills_the_form(self):
        state = self.go(5)
        price = state["asks"][1][0] * state["instruments"][0]["tick_size"]
        lots = state["asks"][0][1] + state["asks"][1][1]
        # The page may still show the state before.
        self.browser.wait("the size of the second level in the form", """
            const row = [...document.querySelectorAll('#ladder tbody tr')].find((row) => Number(row.cells[2].textContent) === arguments[0]);
            row?.querySelector('.ask button')?.click();
            return document.querySelector('#change-lots').valueAsNumber === arguments[1];""", price, lots)
        self.browser.click("#change-now")
        self.wait_for_text("#volume", str(state["volume"] + lots))

    def test_a_fork_is_compared(self):
        self.go(10)
        self.choose("#change-kind", "fat_finger")
        self.browser.type("#change-lots", "300")
        self.browser.type("#change-seeds", "6")
        self.browser.click("#change-compare")
        self.browser.wait("the result", "return document.querySelectorAll('#compare-metrics tr').length > 5", seconds=90)
        found = self.ask("comparison")
        self.assertEqual(found["pairs"], 6)
        differing = sum(row["differs"] for row in found["metrics"])
        self.assertEqual(self.browser.text("#compare-state"), f"6 seeds in pairs; {differing} of {len(found['metrics'])} metrics differ")
        rows = self.browser.run("""return [...document.querySelectorAll('#compare-metrics tr')].map((row) =>
            [row.cells[0].textContent, Number(row.cells[1].textContent), Number(row.cells[2].textContent), Number(row.cells[3].textContent)]);""")
        self.assertEqual([row[0] for row in rows], [row["name"] for row in found["metrics"]])
        for shown, row in zip(rows, found["metrics"]):
            for value, key in zip(shown[1:], ("a", "b", "difference")):
                self.assertAlmostEqual(value, row[key], delta=6e-3 * abs(row[key]))
        self.assertEqual(self.browser.run("return document.querySelectorAll('#compare-plots canvas').length"), 4)
        self.assertIn("lots 300", self.browser.text("#compare-what"))

    def test_a_link_leads_to_its_moment_and_says_when_the_market_is_another(self):
        there = self.go(12)
        self.browser.click("#link")
        address = self.browser.run("return location.href")
        for part in ("scenario=calm", "seed=3", "time_ns=12000000000", f"command={there['commands']}", f"digest={there['digest']}"):
            self.assertIn(part, address)
        # From another seed and moment.
        self.ask("control", {"do": "restart", "seed": 8})
        self.ask("control", {"do": "go", "seconds": 20})
        self.browser.open("about:blank")
        self.browser.open(address)
        self.wait_for_text("#digest", there["digest"])
        self.wait_for_text("#seed-now", "3")
        self.wait_for_text("#time", "0:12.0")
        self.assertEqual(self.browser.text("#link-problem"), "")
        # The same moment with a change before it is another market.
        self.ask("control", {"do": "go", "seconds": 5})
        self.ask("inject", {"kind": "withdraw", "group": "makers"})
        for other, words in ((address, "This is another market than the link's"), (address.replace("calm", "storm"), "is of the scenario storm"),
                             (address.replace("seed=3", "seed=-3"), "leads nowhere")):
            self.browser.open("about:blank")
            self.browser.open(other)
            self.browser.wait(words, "return document.querySelector('#link-problem').textContent.includes(arguments[0])", words)
        # The seed that does not exist was refused.
        self.assertTrue(all("status of 400" in each for each in self.browser.complaints()))

    def test_a_lost_laboratory_is_announced_and_comes_back(self):
        self.go(5)
        self.end()
        self.browser.wait("the loss", "return !document.querySelector('#lost').hidden")
        self.assertEqual(self.browser.text("#state"), "lost")
        self.start()
        self.browser.wait("the return", "return document.querySelector('#lost').hidden", seconds=60)
        self.wait_for_text("#time", "0:00.0")
        self.go(3)
        # The console has the lost connections, and nothing else.
        self.assertEqual([each for each in self.browser.complaints() if "ERR_CONNECTION_REFUSED" not in each and "WebSocket" not in each], [])

    def test_fits_small_screens(self):
        self.addCleanup(self.browser.resize, 1600, 1000)
        for width in (500, 900):
            self.browser.resize(width, 800)
            self.load()
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)

    @unittest.skipUnless(os.path.exists(AXE), "web/node_modules is missing: npm ci --prefix web")
    def test_axe_finds_no_fault(self):
        with open(AXE, encoding="utf-8") as file:
            axe = file.read()
        self.ask("control", {"do": "go", "seconds": 10})
        self.ask("comparison", {"event": {"kind": "fat_finger", "side": "sell", "lots": 300}, "seeds": 2})
        for theme, colours in (("dark", "blue"), ("light", "green"), ("dark", "green"), ("light", "blue")):
            self.browser.run("""localStorage.setItem('corro-theme', arguments[0]); localStorage.setItem('corro-colours', arguments[1]);""",
                             theme, colours)
            self.load()
            self.browser.wait("a comparison", "return document.querySelectorAll('#compare-metrics tr').length > 5")
            faults = self.browser.run(axe + """; return axe.run().then((found) => found.violations.map((each) =>
                [each.id, each.impact, each.nodes.slice(0, 3).map((node) => node.html + ' ' + node.failureSummary)]));""")
            self.assertEqual(faults, [], f"{theme}, {colours}")
        self.browser.run("localStorage.clear()")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
