#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Positions by FIX at a running venue: in one process, in roles, in partitions, and after kill -9.

usage: fix_positions_test.py CORRO SOURCE_FOLDER
"""

import os
import secrets
import tempfile
import unittest

from fix_order_entry_test import Client, content, key_of
from running_exchange import Exchange, serve_example, start_role


class FixPositions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.journal = f'\n[facility]\njournal = "{os.path.join(folder.name, "journal")}"\n'

    def connect(self, address, sender="ALICE", number=1, version="FIX.4.4"):
        client = Client(address, sender=sender, password=key_of(sender.lower()), number=number, version=version)
        self.addCleanup(client.close)
        self.assertEqual(client.log_on("1137=9|" if version == "FIXT.1.1" else "")["35"], "A")
        return client

    def positions(self, client, more="", name="P"):
        """The answer to a question, without the ack: (symbol, long, short) of each report, and all messages."""
        client.send(f"35=AN|710={name}|724=0|{more}")
        messages = [self.not_a_fill(client)]
        ack = messages[0]
        self.assertEqual((ack["35"], ack["710"], ack["729"]), ("AO", name, "0"), ack)
        messages += [client.next() for _ in range(int(ack["727"]))]
        self.assertEqual(ack["728"], "0" if len(messages) > 1 else "2")
        self.assertTrue(all(m["35"] == "AP" and m["710"] == name for m in messages[1:]), messages)
        return [(m["55"], m["704"], m["705"]) for m in messages[1:]], messages

    def not_a_fill(self, client):
        while True:
            message = client.next()
            self.assertIsNotNone(message)
            if message["35"] != "8":
                return message

    def trade(self, buyer, seller, symbol, price, quantity, name):
        self.assertEqual(buyer.ask(f"35=D|11=B{name}|55={symbol}|54=1|38={quantity}|40=2|44={price}|")["150"], "0")
        self.assertIn(seller.ask(f"35=D|11=S{name}|55={symbol}|54=2|38={quantity}|40=2|44={price}|")["150"], "F2")

    def check(self, alice, bob, symbols, prices):
        """Trades in two instruments, and what both accounts see of it."""
        self.assertEqual(self.positions(alice)[0], [])
        self.trade(alice, bob, symbols[0], prices[0], 3, "1")
        self.trade(bob, alice, symbols[1], prices[1], 2, "2")
        self.assertEqual(sorted(self.positions(alice)[0]), sorted([(symbols[0], "3", "0"), (symbols[1], "0", "2")]))
        self.assertEqual(sorted(self.positions(bob)[0]), sorted([(symbols[0], "0", "3"), (symbols[1], "2", "0")]))
        self.assertEqual(self.positions(bob, f"55={symbols[1]}|")[0], [(symbols[1], "2", "0")])
        bob.send("35=AN|710=P|724=0|1=1|")
        ack = self.not_a_fill(bob)
        self.assertEqual((ack["35"], ack["728"], ack["729"], ack["727"]), ("AO", "3", "2", "0"))

    def test_in_one_process_and_after_a_kill(self):
        with Exchange(self.folder, more=self.journal) as exchange:
            address = exchange.addresses["FIX"]
            alice, bob = self.connect(address), self.connect(address, "BOB", version="FIXT.1.1")
            self.check(alice, bob, ("ESZ6", "CLF7"), ("5900", "70"))
            said, before = self.positions(alice, name="Q")
            number = alice.number
            exchange.process.kill()
            exchange.process.wait()
        with Exchange(self.folder, more=self.journal) as exchange:
            alice = self.connect(exchange.addresses["FIX"], number=number)
            alice.send(f"35=2|7={before[0]['34']}|16={before[-1]['34']}|")
            again = [alice.next() for _ in before]
            self.assertEqual([content(m) for m in again], [content(m) for m in before])
            self.assertTrue(all(m["43"] == "Y" for m in again))
            self.assertEqual(self.positions(alice, name="R")[0], said)
            # What was recovered is the base of what follows.
            bob = self.connect(exchange.addresses["FIX"], "BOB", number=bob.number, version="FIXT.1.1")
            self.trade(alice, bob, "ESZ6", "5900", 1, "3")
            self.assertEqual(self.positions(alice, "55=ESZ6|", name="S")[0], [("ESZ6", "4", "0")])

    def test_fix_4_2_has_no_such_message(self):
        with Exchange(self.folder) as exchange:
            alice = self.connect(exchange.addresses["FIX"], version="FIX.4.2")
            message = alice.ask("35=AN|710=P|724=0|")
            self.assertEqual((message["35"], message["372"], message["380"]), ("j", "AN", "3"))

    def test_in_roles_and_after_the_kill_of_each(self):
        link = f'[link]\nlisten = "{self.folder}/link"\nsecret = "{secrets.token_hex(32)}"\n'
        ports, config = serve_example(self, self.folder, "demo.toml", self.journal + link)
        address = f"127.0.0.1:{ports['7010']}"
        facility = start_role(self, config, ("--role", "facility"))
        gateway = start_role(self, config, ("--role", "gateway"))
        alice, bob = self.connect(address), self.connect(address, "BOB")
        self.check(alice, bob, ("ESZ6", "CLF7"), ("5900", "70"))
        said, before = self.positions(alice, name="Q")
        number = alice.number
        for process in (gateway, facility):
            process.kill()
            process.wait()
        start_role(self, config, ("--role", "facility"))
        start_role(self, config, ("--role", "gateway"))
        alice = self.connect(address, number=number)
        alice.send(f"35=2|7={before[0]['34']}|16={before[-1]['34']}|")
        self.assertEqual([content(alice.next()) for _ in before], [content(m) for m in before])
        self.assertEqual(self.positions(alice, name="R")[0], said)

    def test_in_a_venue_of_partitions(self):
        fix = '\n[fix]\nlisten = "127.0.0.1:7010"\n' + "".join(
            f'[[fix_session]]\nname = "{name}"\naccount = {account}\nsession = 4\n'
            for name, account in (("ALICE", 1), ("BOB", 2)))
        ports, config = serve_example(self, self.folder, "partitions.toml", fix)
        address = f"127.0.0.1:{ports['7010']}"
        venue = start_role(self, config, ())
        alice, bob = self.connect(address), self.connect(address, "BOB")
        self.check(alice, bob, ("ESZ6", "CLF7"), ("5900", "70"))
        behind, _ = self.positions(alice, "20028=ESZ6|")
        self.assertEqual(behind, [], "CLF7 is in another partition")
        said, before = self.positions(alice, name="Q")
        self.assertEqual(before[0]["727"], "2", "one ack for all partitions")
        number = alice.number
        venue.kill()
        venue.wait()
        start_role(self, config, ())
        alice = self.connect(address, number=number)
        alice.send(f"35=2|7={before[0]['34']}|16={before[-1]['34']}|")
        self.assertEqual([content(alice.next()) for _ in before], [content(m) for m in before])
        self.assertEqual(self.positions(alice, name="R")[0], said)


if __name__ == "__main__":
    unittest.main(argv=["fix_positions_test.py"])
