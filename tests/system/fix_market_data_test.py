#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Market data by FIX at a running venue, in one thread, in two, and from a distributor: the book of a client that applies
W and X is the one that orders have made.

usage: fix_market_data_test.py CORRO SOURCE_FOLDER
"""

import os
import random
import re
import sys
import tempfile
import unittest

import fix_order_entry_test
from running_exchange import Exchange

SOH = "\x01"


class MarketClient(fix_order_entry_test.Client):
    """Messages are lists of pairs, because fields of groups come again."""

    def __init__(self, address, **settings):
        super().__init__(address, sender="READER", password="", **settings)
        self.books, self.trades = {}, []

    def log_on(self, more=""):
        self.send(f"35=A|98=0|108=30|{more}")
        return self.next()

    def next(self):
        while True:
            match = re.match(rb"8=[^\x01]+\x019=(\d+)\x01", self.bytes)
            size = match.end() + int(match[1]) + 7 if match else None
            if size and len(self.bytes) >= size:
                text = self.bytes[:size - 1].decode()
                self.bytes = self.bytes[size:]
                return [tuple(field.split("=", 1)) for field in text.split(SOH)]
            more = self.socket.recv(65536)
            if not more:
                return None
            self.bytes += more

    def apply_next(self):
        """Applies the next W or X; @return its type."""
        message = self.next()
        head = dict(message)
        first = {"W": "269", "X": "279"}[head["35"]]
        entries = []
        for tag, value in message:
            if tag == first:
                entries.append({})
            if entries and tag != "10":
                entries[-1][tag] = value
        assert len(entries) == int(head["268"]), message
        if head["35"] == "W":
            self.books[head["55"]] = {(e["269"], e["270"]): (e["271"], e["346"]) for e in entries if e["269"] in "01"}
            return "W"
        for entry in entries:
            if entry["269"] == "2":
                self.trades.append((entry["55"], entry["270"], entry["271"]))
                continue
            book, key = self.books[entry["55"]], (entry["269"], entry["270"])
            assert (key in book) == (entry["279"] != "0"), (entry, book)
            if entry["279"] == "2":
                del book[key]
            else:
                book[key] = (entry["271"], entry["346"])
        return "X"


class FixMarketData(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def reader(self, address, version="FIX.4.4"):
        client = MarketClient(address, version=version)
        self.addCleanup(client.close)
        self.assertEqual(dict(client.log_on("1137=9|" if version == "FIXT.1.1" else ""))["35"], "A")
        return client

    def trader(self, exchange, name):
        client = fix_order_entry_test.Client(exchange.addresses["FIX"], sender=name.upper(),
                                             password=fix_order_entry_test.key_of(name))
        self.addCleanup(client.close)
        self.assertEqual(client.log_on()["35"], "A")
        return client

    def follow(self, exchange, address):
        """Enters and cancels orders at random; readers of all versions have the same books at the end."""
        readers = [self.reader(address, version) for version in ("FIX.4.2", "FIX.4.4", "FIXT.1.1")]
        for reader in readers:
            reader.send("35=V|262=all|263=1|264=0|265=1|267=3|269=0|269=1|269=2|146=2|55=ESZ6|55=CLF7|")
            self.assertEqual([reader.apply_next(), reader.apply_next()], ["W", "W"])
        trader, choose, book = self.trader(exchange, "alice"), random.Random(5), {}
        for k in range(1, 101):
            side, price = choose.choice("12"), 5900 + choose.randrange(8)
            price = price - 10 if side == "1" else price
            answer = trader.ask(f"35=D|11={k}|55=ESZ6|54={side}|38={k % 5 + 1}|40=2|44={price}|")
            self.assertEqual(answer["39"], "0")
            quantity, orders = book.get(("01"[side == "2"], str(price)), (0, 0))
            book[("01"[side == "2"], str(price))] = (quantity + k % 5 + 1, orders + 1)
        best = min(int(price) for kind, price in book if kind == "1")
        taken = self.trader(exchange, "bob").ask(f"35=D|11=900|55=ESZ6|54=1|38=1|40=2|59=3|44={best}|")
        self.assertEqual(taken["35"], "8")
        quantity, orders = book[("1", str(best))]
        expected = {key: (str(q), str(n)) for key, (q, n) in book.items()}
        for reader in readers:
            while not reader.trades:
                reader.apply_next()
            self.assertEqual(reader.trades, [("ESZ6", str(best), "1")])
            remaining = reader.books["ESZ6"].pop(("1", str(best)), None)
            self.assertIn(remaining, [None, (str(quantity - 1), str(orders)), (str(quantity - 1), str(orders - 1))])
            self.assertEqual(reader.books["ESZ6"], {key: value for key, value in expected.items() if key != ("1", str(best))})
            self.assertEqual(reader.books["CLF7"], {})

    def test_readers_follow_the_book_in_one_thread(self):
        with Exchange(self.folder) as exchange:
            self.follow(exchange, exchange.addresses["FIX data"])

    def test_readers_follow_the_book_in_two_threads(self):
        with Exchange(self.folder, "--threading", "split") as exchange:
            self.follow(exchange, exchange.addresses["FIX data"])

    def test_readers_follow_the_book_at_a_distributor(self):
        other = os.path.join(self.folder, "distributor")
        os.mkdir(other)
        with Exchange(self.folder) as exchange:
            with Exchange(other, "--role", "distributor", "--venue-feed", exchange.addresses["feed"], "--venue-snapshots",
                          exchange.addresses["snapshots"]) as distributor:
                self.follow(exchange, distributor.addresses["FIX data"])

    def test_what_is_not_served_is_refused(self):
        with Exchange(self.folder) as exchange:
            address = exchange.addresses["FIX data"]
            reader = self.reader(address)
            refused = dict(reader.ask("35=V|262=a|263=1|264=1|265=1|267=1|269=0|146=1|55=NONE|"))
            self.assertEqual((refused["35"], refused["262"], refused["281"]), ("Y", "a", "0"))
            self.assertEqual(dict(reader.ask("35=V|262=a|263=1|"))["35"], "3")
            self.assertEqual(dict(reader.ask("35=D|11=1|55=ESZ6|"))["35"], "j")
            late = MarketClient(address, number=7)
            self.addCleanup(late.close)
            self.assertEqual(dict(late.log_on())["35"], "5")

    def test_a_venue_that_closes_says_so(self):
        with Exchange(self.folder) as exchange:
            reader = self.reader(exchange.addresses["FIX data"])
            exchange.process.terminate()
            goodbye = dict(reader.next())
            self.assertEqual((goodbye["35"], goodbye["58"]), ("5", "The venue closes"))
            reader.send("35=5|")
            exchange.process.communicate()
            self.assertEqual(exchange.process.returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
