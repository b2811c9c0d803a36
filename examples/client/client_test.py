#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the client library against an exchange, and checks what they print.

    client_test.py CORRO SOURCE_FOLDER FOLDER_OF_EXAMPLES
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(sys.argv[2], "tests", "system"))
from running_exchange import CORRO, TIME_LIMIT_S, example_configuration, free_ports

EXAMPLES = sys.argv[3]
ALICE = ("1", "3c2ab6291091e38af2a3683333a6e0ccf1e3b6d53a46e5fcbd9062eaa690b5b1")
BOB = ("2", "fc7d2b09ecee14bb69846b42616c073eb31a0e064aeea44015505bff39a5a04b")


class ClientExamples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = os.path.join(folder.name, "journal")
        self.config = os.path.join(folder.name, "demo.toml")
        text = example_configuration("demo.toml")
        self.ports = dict(zip(("7001", "7002", "7003", "7010", "7011", "7020"), free_ports(6)))
        for old, new in self.ports.items():
            text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text + f'\n[facility]\njournal = "{self.journal}"\n')
        self.venue = f"127.0.0.1:{self.ports['7001']}"
        self.serve()

    def serve(self):
        self.process = subprocess.Popen([CORRO, "serve", "--config", self.config], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        for line in self.process.stdout:
            if "Ctrl-C" in line:
                return
        self.fail("corro serve ended early")

    def example(self, name, *arguments, code=0, errors=""):
        done = subprocess.run([os.path.join(EXAMPLES, name), *arguments], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
        self.assertEqual((done.stderr, done.returncode), (errors, code), done.stdout)
        return done.stdout

    def test_orders_trade_and_positions_are_signed(self):
        printed = self.example("orders", self.venue, "BTC-USD", "98765.5", *ALICE, *BOB)
        self.assertEqual(printed, "seller: BTC-USD 1 accepted, sell 30 at 98765.50\n"
                                  "buyer: BTC-USD 1 filled, buy 20 at 98765.50, 0 open\n"
                                  "seller: BTC-USD 1 filled, sell 20 at 98765.50, 10 open\n"
                                  "seller: BTC-USD 1 cancelled, 10 units\n"
                                  "seller -20, buyer 20\n")

    def test_refusals_have_a_reason(self):
        off_tick = self.example("orders", self.venue, "BTC-USD", "98765.3", *ALICE, *BOB, code=1, errors="not an order: price_off_tick\n")
        self.assertEqual(off_tick, "")
        self.example("orders", self.venue, "XYZ", "1", *ALICE, *BOB, code=1, errors="not an order: unknown_instrument\n")
        self.example("orders", self.venue, "BTC-USD", "1", *ALICE[:1], BOB[1], *BOB, code=1,
                     errors="the seller cannot log on: the venue ended the session: authentication_failed\n")
        self.example("orders", self.venue, "BTC-USD", "1", "x", BOB[1], *BOB, code=2,
                     errors="an account is its number and a key of 64 hexadecimal digits\n")

    def test_a_killed_venue_loses_no_order_and_doubles_none(self):
        with subprocess.Popen([os.path.join(EXAMPLES, "recovery"), self.venue, "ESZ6", "5900", "15", *ALICE], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as client:
            kills, begin = 0, time.monotonic()
            # Not near the client's end, however long the venue takes to start.
            while kills < 2 and time.monotonic() - begin < 8:
                time.sleep(1.5)
                kills += 1
                self.process.kill()
                self.process.wait()
                self.serve()
            printed, errors = client.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual((errors, client.returncode), ("", 0), printed)
        counts = re.fullmatch(r"(\d+) entered, (\d+) accepted once, (\d+) cancelled once, 0 open, (\d+) cuts\n", printed)
        self.assertTrue(counts, printed)
        entered, accepted, cancelled, cuts = map(int, counts.groups())
        self.assertEqual((entered, entered), (accepted, cancelled))
        self.assertGreater(entered, 10)
        self.assertGreaterEqual(cuts, 1)

    def test_a_book_follows_the_feed(self):
        with subprocess.Popen([os.path.join(EXAMPLES, "book"), f"127.0.0.1:{self.ports['7002']}", f"127.0.0.1:{self.ports['7003']}",
                               "CLF7", "3"], stdout=subprocess.PIPE, text=True) as book:
            joined = book.stdout.readline()
            self.example("quotes", self.venue, *ALICE, *BOB, "CLF7", "70", "ESZ6", "6000")
            printed, _ = book.communicate(timeout=TIME_LIMIT_S)
        self.assertRegex(joined, r"joined behind command \d+\n")
        self.assertEqual(printed, "bid 20 at 70.00, ask 0 at 0.00\n"
                                  "bid 20 at 70.00, ask 20 at 71.00\n"
                                  "bid 10 at 70.00, ask 20 at 71.00\n"
                                  "buy  10 at 70.00, 1 orders\n"
                                  "sell 20 at 71.00, 1 orders\n")

    def test_quotes_of_several_instruments_are_one_message(self):
        printed = self.example("quotes", self.venue, *ALICE, *BOB, "CLF7", "70", "ESZ6", "6000", "BTC-USD", "99000")
        self.assertEqual(printed, "maker: CLF7 1 quoted, bid 20, ask 20\n"
                                  "maker: ESZ6 1 quoted, bid 20, ask 20\n"
                                  "maker: BTC-USD 1 quoted, bid 20, ask 20\n"
                                  "taker: CLF7 1 filled, sell 10 at 70.00, 0 open\n"
                                  "maker: CLF7 1 filled, buy 10 at 70.00, 10 open\n"
                                  "maker 10\n"
                                  "maker: CLF7 2 quoted, bid 0, ask 0\n"
                                  "maker: ESZ6 2 quoted, bid 0, ask 0\n"
                                  "maker: BTC-USD 2 quoted, bid 0, ask 0\n")
        self.example("quotes", self.venue, *ALICE, *BOB, "CLF7", "70.005", code=1, errors="not a quote: price_off_tick\n")

    def test_the_order_of_a_lost_session_is_cancelled(self):
        printed = self.example("disconnect", self.venue, "ESZ6", "5900", *ALICE)
        self.assertEqual(printed, "careful: ESZ6 1 accepted, buy 10 at 5900.00\n"
                                  "patient: ESZ6 1 accepted, buy 10 at 5900.00\n"
                                  "careful: ESZ6 1 cancelled, 10 units\n"
                                  "careful has 0 open orders, patient 1\n"
                                  "patient: ESZ6 1 cancelled, 10 units\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
