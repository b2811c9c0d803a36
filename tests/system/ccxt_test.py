#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ccxt, a library for bots that speaks the API of Deribit, against the demonstration: only its address is changed. Skipped where it is not installed.

usage: ccxt_test.py CORRO SOURCE_FOLDER
"""

import re
import subprocess
import sys
import tempfile
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, demo_configuration

try:
    import ccxt
except ImportError:
    ccxt = None


@unittest.skipIf(ccxt is None, "ccxt is not installed (pip install ccxt)")
class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        demo = subprocess.Popen([CORRO, "demo", "--config", demo_configuration(folder.name, api_keys=True), "--plain"],
                                stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(demo.communicate, timeout=TIME_LIMIT_S)
        self.addCleanup(demo.terminate)
        address = secret = None
        for line in demo.stdout:
            if found := re.match(r"API +ws://([\d.:]+)/", line):
                address = found[1]
            if found := re.match(r"log on as .*\(alice\).* key (\w+)", line):
                secret = found[1]
            if "messages/s" in line:
                break
        self.exchange = ccxt.deribit({"apiKey": "alice", "secret": secret, "enableRateLimit": False})
        self.exchange.urls["api"]["rest"] = f"http://{address}"
        self.exchange.load_markets()
        self.symbol = self.exchange.markets_by_id["CLF7"][0]["symbol"]

    def test_reads_the_market(self):
        book = self.exchange.fetch_order_book(self.symbol, 5)
        self.assertGreater(len(book["bids"]), 0)
        self.assertLess(book["bids"][0][0], book["asks"][0][0])
        ticker = self.exchange.fetch_ticker(self.symbol)
        self.assertGreater(ticker["last"], 0)
        trades = self.exchange.fetch_trades(self.symbol, limit=3)
        self.assertGreater(len(trades), 0)
        self.assertEqual(self.exchange.fetch_status()["status"], "ok")

    def test_trades(self):
        bid = self.exchange.fetch_order_book(self.symbol, 1)["bids"][0][0]
        order = self.exchange.create_order(self.symbol, "limit", "buy", 2, round(bid * 0.99, 2))
        self.assertEqual(order["status"], "open")
        self.assertIn(order["id"], [each["id"] for each in self.exchange.fetch_open_orders(self.symbol)])
        changed = self.exchange.edit_order(order["id"], self.symbol, "limit", "buy", 1, round(bid * 0.99, 2))
        self.assertEqual(changed["amount"], 1)
        self.assertEqual(self.exchange.fetch_order(order["id"], self.symbol)["status"], "open")
        self.assertEqual(self.exchange.cancel_order(order["id"], self.symbol)["status"], "canceled")
        self.assertNotIn(order["id"], [each["id"] for each in self.exchange.fetch_open_orders(self.symbol)])
        filled = self.exchange.create_order(self.symbol, "market", "buy", 1)
        self.assertEqual(filled["status"], "closed")
        self.assertGreater(len(self.exchange.fetch_my_trades(self.symbol)), 0)
        self.assertEqual(len(self.exchange.fetch_positions([self.symbol])), 1)
        with self.assertRaises(ccxt.BaseError):
            self.exchange.create_order(self.symbol, "limit", "buy", 1, -5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
