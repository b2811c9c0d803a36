#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the laboratory from outside, over HTTP and WebSocket: laboratory_test.py PROGRAM SCENARIOS_FOLDER"""

import base64
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

PROGRAM = ""
SCENARIOS = pathlib.Path()
TIME_LIMIT_S = 60
HALT = {"kind": "phase", "phase": "halted", "length": "2s"}


class Socket:
    """A client of the WebSocket; messages of the server are whole and not masked."""

    def __init__(self, port, path):
        self.stream = socket.create_connection(("127.0.0.1", port), timeout=TIME_LIMIT_S)
        key = base64.b64encode(os.urandom(16)).decode()
        self.stream.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        self.file = self.stream.makefile("rb")
        assert b" 101 " in self.file.readline()
        while self.file.readline() != b"\r\n":
            pass

    def news(self):
        head = self.file.read(2)
        assert head[0] == 0x81, head
        size = head[1]
        if size == 126:
            size = struct.unpack(">H", self.file.read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.file.read(8))[0]
        return json.loads(self.file.read(size))

    def close(self):
        self.file.close()
        self.stream.close()


class Laboratory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)
        self.scenario = self.here / "calm.toml"
        self.scenario.write_text((SCENARIOS / "calm.toml").read_text().replace('"300s"', '"20s"'))
        self.start()

    def start(self, seed=3):
        self.program = subprocess.Popen([PROGRAM, "lab", self.scenario, "--seed", str(seed), "--listen", "127.0.0.1:0"],
                                        stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        line = self.program.stdout.readline()
        found = re.fullmatch(r"calm, seed \d+: http://127.0.0.1:(\d+)/\n", line)
        self.assertIsNotNone(found, line)
        self.port = int(found[1])

    def end(self):
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGINT)
        self.assertEqual(self.program.wait(TIME_LIMIT_S), 0)
        self.program.stdout.close()

    def ask(self, path, body=None, method=None, status=200, headers=None):
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIME_LIMIT_S) as answer:
                got, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            got, text = error.code, error.read()
            error.close()
        self.assertEqual(got, status, text)
        return text.decode() if path.endswith("scenario") else json.loads(text)

    def control(self, **asked):
        return self.ask("/api/lab/v1/control", asked)

    def state(self):
        return self.ask("/api/lab/v1/state")

    def run_program(self, scenario, seed, out):
        subprocess.run([PROGRAM, "run", scenario, "--seed", str(seed), "--out", out, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL, timeout=TIME_LIMIT_S)
        return json.loads((out / "result.json").read_text())

    def wait_for_comparison(self):
        end = time.monotonic() + TIME_LIMIT_S
        while (found := self.ask("/api/lab/v1/comparison"))["running"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        return found

    def test_steps_give_the_run_of_the_program(self):
        begun = self.state()
        self.assertEqual((begun["state"], begun["time_ns"], begun["seed"]), ("paused", 0, 3))
        for seconds in (0.5, 0.0001, 3):
            self.control(do="step", seconds=seconds)
            self.state()
        self.assertEqual(self.control(do="go", seconds=20)["state"], "ended")
        ended = self.state()
        alone = self.run_program(self.scenario, 3, self.here / "alone")
        self.assertEqual(ended["digest"], alone["digest"])
        self.assertEqual((ended["commands"], ended["trades"]), (alone["commands"], alone["trades"]))
        self.assertEqual(ended["metrics"], alone["metrics"])
        refused = self.ask("/api/lab/v1/control", {"do": "run"}, status=409)
        self.assertEqual(refused["error"], "the run has ended; restart it")
        # Back, and again with another seed.
        middle = self.control(do="go", seconds=10)
        self.assertEqual((middle["time_ns"], middle["state"]), (10_000_000_000, "paused"))
        self.assertEqual(self.control(do="go", seconds=20)["digest"], alone["digest"])
        self.assertEqual(self.control(do="restart", seed=4)["time_ns"], 0)
        other = self.run_program(self.scenario, 4, self.here / "other")
        self.assertEqual(self.control(do="go", seconds=20)["digest"], other["digest"])

    def test_a_market_runs_at_a_speed_until_it_is_paused(self):
        begun = time.monotonic()
        self.control(do="run", speed=5)
        time.sleep(0.5)
        paused = self.control(do="pause")
        passed = time.monotonic() - begun
        self.assertGreater(paused["time_ns"], 0)
        self.assertLessEqual(paused["time_ns"] / 1e9, 5 * passed + 0.1)
        self.assertEqual(self.state()["time_ns"], paused["time_ns"])

    def test_agents_have_what_the_result_of_a_run_has(self):
        self.control(do="go", seconds=20)
        rows = self.state()["agents"]
        out = self.here / "alone"
        self.run_program(self.scenario, 3, out)
        recorded = {line.split(",")[1]: line.split(",") for line in (out / "agents.csv").read_text().splitlines()[1:]}
        for row in rows:
            self.assertEqual((str(row["account"]), str(row["lots"])), (recorded[row["name"]][0], recorded[row["name"]][3]), row)
            self.assertEqual(row["order_to_trade"], row["requests"] / row["fills"] if row["fills"] else None)
        self.assertEqual(sum(row["lots"] for row in rows), 0)
        self.assertAlmostEqual(sum(row["profit"] for row in rows), 0)
        self.assertGreater(sum(row["fills"] for row in rows), 50)
        resting = [row for row in rows if row["orders"]]
        self.assertTrue(resting)
        for row in rows:
            self.assertEqual(row["orders"] > 0, row["ahead_buy"] is not None or row["ahead_sell"] is not None, row)

    def test_a_change_is_made_now_and_its_scenario_repeats_the_run(self):
        before = self.control(do="go", seconds=5)
        after = self.ask("/api/lab/v1/inject", HALT)
        self.assertEqual(after["time_ns"], before["time_ns"] + 1)
        state = self.state()
        self.assertEqual((state["phase"], state["injected"]), ("halted", 1))
        self.assertIn({"at_ns": 5_000_000_001, "kind": "phase"}, state["events"])
        while_halted = self.control(do="step", seconds=1)
        self.assertEqual(while_halted["trades"], before["trades"])
        self.assertEqual(self.control(do="step", seconds=2)["state"], "paused")
        self.assertEqual(self.state()["phase"], "continuous")
        ended = self.control(do="go", seconds=20)
        self.assertGreater(ended["trades"], before["trades"])
        changed = self.here / "changed.toml"
        changed.write_text(self.ask("/api/lab/v1/scenario"))
        self.assertEqual(self.run_program(changed, 3, self.here / "again")["digest"], ended["digest"])
        # A restart is without it.
        self.control(do="restart")
        self.assertEqual(self.state()["injected"], 0)
        self.assertEqual(self.ask("/api/lab/v1/scenario"), self.scenario.read_text())

    def test_all_kinds_of_changes_have_effects(self):
        self.control(do="go", seconds=4)
        state = self.state()
        groups = {each["name"]: each for each in state["groups"]}
        linked = next(name for name, each in groups.items() if each["has_link"])
        maker = next(name for name, each in groups.items() if each["kind"] == "ladder")
        volume = state["volume"]
        self.ask("/api/lab/v1/inject", {"kind": "fat_finger", "side": "sell", "lots": 40})
        self.assertEqual(self.state()["volume"], volume + 40)
        self.ask("/api/lab/v1/inject", {"kind": "news", "fundamental": state["fundamentals"][0], "ticks": 50})
        self.ask("/api/lab/v1/inject", {"kind": "latency", "group": linked, "factor": 10, "length": "1s"})
        self.ask("/api/lab/v1/inject", {"kind": "kill_switch", "group": maker})
        killed = [row for row in self.state()["agents"] if row["name"].startswith(maker + "-")]
        self.assertEqual([row["orders"] for row in killed], [0] * groups[maker]["count"])
        self.ask("/api/lab/v1/inject", {"kind": "withdraw", "group": maker})
        self.assertEqual(self.state()["injected"], 5)
        self.control(do="go", seconds=20)

    def test_a_late_moment_of_a_long_market_can_be_changed(self):
        self.end()
        self.scenario.write_text((SCENARIOS / "calm.toml").read_text().replace('"300s"', '"8h"').replace("count = ", "count = 1 # "))
        self.start()
        self.control(do="go", seconds=200)
        self.assertEqual(self.ask("/api/lab/v1/inject", HALT)["time_ns"], 200_000_000_001)
        self.assertEqual(self.state()["phase"], "halted")

    def test_a_fork_is_compared_side_by_side_and_over_seeds(self):
        self.control(do="go", seconds=6)
        self.assertIsNone(self.ask("/api/lab/v1/comparison"))
        begun = self.ask("/api/lab/v1/comparison", {"event": {"kind": "fat_finger", "side": "sell", "lots": 200}, "seeds": 4})
        self.assertTrue(begun["running"])
        refused = self.ask("/api/lab/v1/comparison", {"event": HALT}, status=409)
        self.assertIn("a comparison is running", refused["error"])
        found = self.wait_for_comparison()
        self.assertEqual((found["pairs"], found["at_ns"], found["seed"]), (4, 6_000_000_001, 3))
        a, b = found["paths"]["a"][0], found["paths"]["b"][0]
        self.assertEqual((len(a), len(b)), (21, 21))
        self.assertEqual(a[:7], b[:7])
        self.assertNotEqual(a[7:], b[7:])
        # The same numbers as those of the program's comparison.
        other = self.here / "other.toml"
        other.write_text(self.scenario.read_text() + '\n[[event]]\nat = "6000000001ns"\nkind = "fat_finger"\nside = "sell"\nlots = 200\n')
        out = self.here / "compared"
        subprocess.run([PROGRAM, "compare", self.scenario, other, "--seeds", "3:7", "--out", out], check=True,
                       stdout=subprocess.DEVNULL, timeout=TIME_LIMIT_S)
        table = {}
        for line in (out / "comparison.md").read_text().splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == 7 and cells[0] not in ("metric", "---"):
                table[cells[0]] = cells
        self.assertEqual([row["name"] for row in found["metrics"]], list(table))
        for row in found["metrics"]:
            self.assertEqual([f"{row['a']:.5g}", f"{row['b']:.5g}", f"{row['difference']:+.4g}"], table[row["name"]][1:4])
            self.assertEqual(f"{row['low']:+.4g} to {row['high']:+.4g}", table[row["name"]][4])
            self.assertLessEqual(row["low"], row["high"])

    def test_a_comparison_can_be_stopped(self):
        self.control(do="go", seconds=6)
        self.ask("/api/lab/v1/comparison", {"event": HALT, "seeds": 10_000})
        self.ask("/api/lab/v1/comparison", method="DELETE")
        self.assertLess(self.wait_for_comparison()["pairs"], 10_000)
        # The program ends although one runs.
        self.ask("/api/lab/v1/comparison", {"event": HALT, "seeds": 10_000})

    def test_a_page_gets_what_is_new(self):
        page = Socket(self.port, "/ws/lab/v1?instrument=ESZ6")
        self.addCleanup(page.close)
        first = page.news()
        self.assertTrue(first["begins"])
        self.assertEqual(first["terms"]["scenario"], "calm")
        self.control(do="go", seconds=12)
        columns, trades, samples = [], [], []
        while not samples or samples[-1][0] < 12_000_000_000 or "agents" not in news:
            news = page.news()
            for into, name in ((columns, "columns"), (trades, "trades"), (samples, "samples")):
                if name in news:
                    self.assertEqual(news[name]["first"], len(into) + (1 if name in ("columns", "samples") else 0))
                    into += news[name]["rows"]
        state = self.state()
        self.assertEqual(news["agents"], state["agents"])
        self.assertEqual(news["metrics"], state["metrics"])
        self.assertEqual(len(columns), 120)
        self.assertEqual([columns[-1][2], columns[-1][3]], [state["bids"], state["asks"]])
        self.assertEqual(sum(row[2] for row in trades), state["volume"])
        self.assertEqual(sum(row[5] + row[6] for row in samples), state["volume"])
        best_bid, best_ask = state["bids"][0][0], state["asks"][0][0]
        self.assertEqual(samples[-1][1:3], [(best_bid + best_ask) / 2, best_ask - best_bid])
        # Without news there is a message now and then.
        self.assertEqual(page.news()["now"]["time_ns"], 12_000_000_000)
        self.control(do="go", seconds=1)
        while not (news := page.news()).get("begins"):
            pass
        self.assertEqual(news["columns"]["first"], 0)

    def test_bad_requests_say_what_to_do(self):
        for body, message in (
                (b"{", "the body is not JSON"), (b"[]", "the body is not an object"), ({}, "do: expected"),
                ({"do": "fly"}, "do: expected"), ({"do": "step"}, "seconds: expected a number from 0 to"),
                ({"do": "step", "seconds": -1}, "seconds: expected"), ({"do": "run", "speed": 0}, "speed: expected a number from 0.01"),
                ({"do": "restart", "seed": -1}, "seed: expected a whole number"), ({"do": "restart", "seed": 1.5}, "seed: expected")):
            refused = self.ask("/api/lab/v1/control", body, status=400)
            self.assertIn(message, refused["error"])
        for body, message in (
                ({}, "kind: missing"), ({"kind": "flood"}, "kind: expected one of"), ({"kind": "phase", "phase": "lunch"}, "phase: expected"),
                ({"kind": "withdraw", "group": "nobody"}, "group: "), (HALT | {"at": "3s"}, "at: leave it out"),
                (HALT | {"more": 1}, "more"), (HALT | {"a b": 1}, "a key has small letters"), (HALT | {"length": [1]}, "length: expected a text"),
                ({"kind": 'phase"\n[x]'}, "kind"), ({"kind": "fat_finger", "side": "buy", "lots": 0}, "lots: expected")):
            refused = self.ask("/api/lab/v1/inject", body, status=400)
            self.assertIn(message, refused["error"])
        for body, message in (({}, "event: expected an object"), ({"event": HALT, "seeds": 1}, "seeds: expected a whole number from 2"),
                              ({"event": {"kind": "flood"}}, "kind: expected one of")):
            self.assertIn(message, self.ask("/api/lab/v1/comparison", body, status=400)["error"])
        self.assertIn("available: ESZ6", self.ask("/api/lab/v1/state?instrument=NONE", status=404)["error"])
        self.assertEqual(self.state()["time_ns"], 0)

    def test_pages_of_others_are_refused(self):
        own = f"127.0.0.1:{self.port}"
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                        {"Host": f"evil.example:{self.port}", "Origin": f"http://evil.example:{self.port}"}):
            for path, body in (("/api/lab/v1/state", None), ("/api/lab/v1/control", {"do": "run"}), ("/ws/lab/v1", None)):
                self.assertIn("open the address", self.ask(path, body, status=403, headers=headers)["error"])
        self.assertEqual(self.state()["state"], "paused")
        for headers in ({"Origin": f"http://{own}"}, {"Host": f"localhost:{self.port}", "Origin": f"http://localhost:{self.port}"}):
            self.ask("/api/lab/v1/control", {"do": "pause"}, headers=headers)

    def test_refuses_what_it_cannot_serve(self):
        for listen in ("0.0.0.0:7040", "7040", "192.0.2.1:7040"):
            done = subprocess.run([PROGRAM, "lab", self.scenario, "--listen", listen], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--listen: expected an address of this machine", done.stderr)
        taken = subprocess.run([PROGRAM, "lab", self.scenario, "--listen", f"127.0.0.1:{self.port}"], capture_output=True, text=True,
                               timeout=TIME_LIMIT_S, check=False)
        self.assertEqual(taken.returncode, 1)
        self.assertIn("cannot listen on", taken.stderr)


if __name__ == "__main__":
    PROGRAM, SCENARIOS = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
