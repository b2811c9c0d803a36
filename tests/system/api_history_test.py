#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboard's files and the history of the API, from the program: what HTTP returns is what `corro book` and `corro export` print.

usage: api_history_test.py CORRO SOURCE_FOLDER
"""

import csv
import gzip
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

from running_exchange import CORRO, SOURCE, change_text, demo_configuration, run

COMMANDS = 60_000
INSTRUMENT = "CLF7"


class History(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.journal = os.path.join(cls.folder, "journal")
        cls.config = demo_configuration(cls.folder, api_keys=True)
        made = run("generate", "--config", cls.config, "--commands", str(COMMANDS), "--seed", "7", cls.journal)
        assert made.returncode == 0, made.stderr
        indexed = run("journal", "index", "--config", cls.config, "--journal", cls.journal, "--every", "10000")
        assert indexed.returncode == 0, indexed.stderr
        change_text(cls.config, ("[order_entry]\n", f'[facility]\njournal = "{cls.journal}"\n\n[order_entry]\n'))
        cls.venue = subprocess.Popen([CORRO, "serve", "--config", cls.config], stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
        cls.addClassCleanup(cls.end)
        lines = []
        for line in cls.venue.stdout:
            lines.append(line)
            if found := re.search(r"API +ws://([\d.:]+)/", line):
                cls.address = "http://" + found[1]
            if "Ctrl-C closes it" in line:
                break
        assert hasattr(cls, "address"), "".join(lines)

    @classmethod
    def end(cls):
        cls.venue.terminate()
        cls.venue.communicate(timeout=60)

    def get(self, target, **fields):
        request = urllib.request.Request(self.address + target, headers={k.replace("_", "-"): v for k, v in fields.items()})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def pages(self, target):
        """All rows of a question, page by page."""
        rows, start = [], None
        while True:
            status, head, body = self.get(target + (f"&from={start}" if start else ""))
            self.assertEqual(status, 200, body)
            rows += list(csv.DictReader(io.StringIO(body.decode())))
            start = head["Corro-Next"]
            if start is None:
                return rows

    def test_a_book_is_what_the_program_prints(self):
        for sequence in random.Random(3).sample(range(1, COMMANDS), 5):
            printed = run("book", "--config", self.config, "--journal", self.journal, "--at", str(sequence), "--instrument", INSTRUMENT,
                          "--depth", "5")
            self.assertEqual(printed.returncode, 0, printed.stderr)
            status, head, body = self.get(f"/api/v1/book?instrument={INSTRUMENT}&at={sequence}&depth=5")
            self.assertEqual(status, 200, body)
            self.assertEqual(head["Corro-Sequence"], str(sequence))
            self.assertIn(f"after command {sequence} at {head['Corro-Time']}", printed.stdout)
            bids, asks = [], []
            for row in json.loads(body):
                (bids if row["side"] == "buy" else asks).append(row)
            lines = printed.stdout.splitlines()
            first = next(k for k, line in enumerate(lines) if "bid" in line and "ask" in line) + 1
            seen = [[], []]
            for line in lines[first:]:
                if "|" not in line:
                    break
                for side, half in enumerate(line.split("|")):
                    if words := half.split():
                        seen[side].append(words if side == 0 else words[::-1])
            for printed_rows, rows in zip(seen, (bids, asks)):
                self.assertEqual([(r["orders"], r["quantity"], float(r["price"])) for r in rows],
                                 [(int(orders), int(quantity), float(price)) for orders, quantity, price in printed_rows])

    def test_trades_and_levels_are_those_of_an_export(self):
        out = os.path.join(self.folder, "export")
        done = run("export", "--config", self.config, "--journal", self.journal, "--instrument", INSTRUMENT, "--format", "csv", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(out, "trades.csv"), encoding="utf-8") as file:
            exported = list(csv.DictReader(file))
        rows = self.pages(f"/api/v1/trades?instrument={INSTRUMENT}&format=csv&limit=700")
        self.assertGreater(len(rows), 700)
        self.assertEqual([(r["sequence"], r["trade"]) for r in rows], [(e["sequence"], e["trade"]) for e in exported])
        self.assertEqual([r["quantity"] for r in rows], [e["quantity"] for e in exported])
        with open(os.path.join(out, "levels.csv"), encoding="utf-8") as file:
            exported = list(csv.DictReader(file))
        rows = self.pages(f"/api/v1/levels?instrument={INSTRUMENT}&format=csv&limit=50000")
        self.assertEqual([(r["sequence"], r["side"], r["quantity"]) for r in rows],
                         [(e["sequence"], e["side"], e["quantity"]) for e in exported])

    def test_arrow_is_read_by_pyarrow(self):
        try:
            import pyarrow.ipc
        except ImportError:
            self.skipTest("pyarrow is not installed")
        target = f"/api/v1/trades?instrument={INSTRUMENT}&limit=100"
        _, _, body = self.get(target, Accept="application/vnd.apache.arrow.stream")
        table = pyarrow.ipc.open_stream(body).read_all()
        table.validate(full=True)
        rows = json.loads(self.get(target)[2], parse_float=str, parse_int=str)
        self.assertEqual(table.num_rows, len(rows))
        for ours, theirs in zip(table.select(["trade", "price", "side"]).to_pylist(), rows):
            self.assertEqual(str(ours["trade"]), theirs["trade"])
            self.assertEqual(float(ours["price"]), float(theirs["price"]))
            self.assertEqual(ours["side"], theirs["side"])

    def test_columns_are_a_frame_of_numbers(self):
        status, head, body = self.get(f"/api/v1/columns?instrument={INSTRUMENT}&column=1000&from=20000&to=30000")
        self.assertEqual((status, head["Content-Type"]), (200, "application/octet-stream"))
        numbers = struct.unpack(f"<{len(body) // 8}d", body)
        self.assertEqual(numbers[:2], (1, 3))
        self.assertGreater(numbers[23], 5)
        status, head, body = self.get(f"/api/v1/columns?instrument={INSTRUMENT}&pictures=5")
        self.assertEqual(status, 200)
        self.assertGreaterEqual(struct.unpack("<24d", body[:192])[23], 3)

    def test_orders_are_for_their_owner(self):
        self.assertEqual(self.get(f"/api/v1/orders?instrument={INSTRUMENT}")[0], 401)
        self.assertEqual(self.get(f"/api/v1/orders?instrument={INSTRUMENT}", Authorization="Bearer nonsense")[0], 401)
        with open(self.config, encoding="utf-8") as file:
            secret = re.search(r'\[\[account\]\]\nid = 1\nname = "alice"\nkey = "(\w+)"', file.read())[1]
        body = json.loads(self.get("/api/v2/public/auth?grant_type=client_credentials&client_id=alice&client_secret=" + secret)[2])
        token = body["result"]["access_token"]
        status, _, rows = self.get(f"/api/v1/orders?instrument={INSTRUMENT}&limit=5", Authorization="Bearer " + token)
        self.assertEqual(status, 200, rows)
        self.assertIsInstance(json.loads(rows), list)

    def test_bad_questions_have_their_status(self):
        for target, status, param in (
            ("/api/v1/trades", 400, "instrument"),
            (f"/api/v1/trades?instrument={INSTRUMENT}&limit=0", 400, "limit"),
            (f"/api/v1/trades?instrument={INSTRUMENT}&from=x", 400, "from"),
            (f"/api/v1/trades?instrument={INSTRUMENT}&from={COMMANDS * 10}", 400, "from"),
            (f"/api/v1/book?instrument={INSTRUMENT}&depth=-1", 400, "depth"),
            (f"/api/v1/columns?instrument={INSTRUMENT}&column=1", 400, "column"),
            ("/api/v1/trades?instrument=NONE", 404, None),
            ("/api/v1/nothing?instrument=NONE", 404, None),
            ("/api/v1/", 404, None),
        ):
            got, head, body = self.get(target)
            self.assertEqual(got, status, target)
            error = json.loads(body)["error"]
            self.assertEqual(error.get("data", {}).get("param"), param, target)
            self.assertNotIn(self.folder, body.decode(), target)

    def test_the_dashboard_is_in_the_program(self):
        with open(os.path.join(SOURCE, "web", "dist", "files.txt"), encoding="utf-8") as file:
            files = [line.strip() for line in file if line.strip() and not line.startswith("#")]
        self.assertIn("index.html", files)
        for name in files:
            with open(os.path.join(SOURCE, "web", "dist", name), "rb") as file:
                expected = file.read()
            status, head, body = self.get("/" + name, Accept_Encoding="gzip")
            self.assertEqual(status, 200)
            self.assertIn("default-src 'none'", head["Content-Security-Policy"])
            self.assertEqual(gzip.decompress(body) if head["Content-Encoding"] == "gzip" else body, expected)
            self.assertEqual(self.get("/" + name, If_None_Match=head["ETag"])[0], 304)
        self.assertEqual(self.get("/")[2], self.get("/index.html")[2])
        self.assertEqual(self.get("/nothing.js")[0], 404)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
