#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions about instruments by FIX at a running venue: lists, definitions and phases, in each composition.

usage: fix_reference_test.py CORRO SOURCE_FOLDER [SANITIZERS]
"""

import collections
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from fix_order_entry_test import Client, key_of
from running_exchange import CORRO, TIME_LIMIT_S, Exchange, run, serve_example

CONTROL = '''
[[account]]
id = 8
name = "control"
key = "%s"
operator = true
''' % ("5a" * 32)
INSTRUMENTS = 2_000
SANITIZED = any(sys.argv[3:])  # a sanitizer keeps freed memory


def future(number):
    return (f'\n[[instrument]]\nid = {number}\nsymbol = "F{number}"\nproduct = 9\nkind = "future"\ntick_size = "0.5"\n'
            f'price_low = "1"\nprice_high = "100"\n')


SPREAD = '''
[[instrument]]
id = 10
symbol = "ESZ6-CLF7"
product = 1
kind = "spread"
tick_size = "0.25"
price_low = "-1000"
price_high = "6500"
legs = [{ instrument = 1, side = "buy" }, { instrument = 2, side = "sell", ratio = 3 }]
'''


def instruments_of(fields):
    """The entries of a SecurityList: each begins with Symbol (55)."""
    entries = []
    for tag, value in fields:
        if tag == "55":
            entries.append({})
        if entries:
            entries[-1].setdefault(tag, value)
    return entries


class FixReference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.journal_folder = os.path.join(folder.name, "journal")
        self.journal = f'\n[facility]\njournal = "{self.journal_folder}"\n'

    def connect(self, address, **settings):
        client = Client(address, **settings)
        self.addCleanup(client.close)
        self.assertEqual(client.log_on("1137=9|" if settings.get("version") == "FIXT.1.1" else "")["35"], "A")
        return client

    def assertFields(self, message, **fields):
        self.assertIsNotNone(message)
        self.assertEqual({tag: message.get(tag) for tag in (name[1:] for name in fields)},
                         {name[1:]: value for name, value in fields.items()}, message)

    def read_list(self, client, request):
        """The entries of a list whose question was sent. Reports between its messages are passed over."""
        entries, parts = [], 0
        while True:
            message = client.next()
            if message["35"] != "y":
                continue
            parts += 1
            self.assertEqual(message["320"], request)
            self.assertTrue(message["322"].endswith(f"-{parts}"), message["322"])
            entries += instruments_of(client.fields)
            if message["893"] == "Y":
                self.assertEqual(len(entries), int(message["393"]))
                return entries

    def status(self, client, symbol):
        message = client.ask(f"35=e|324=s|55={symbol}|263=0|")
        self.assertFields(message, _35="f", _324="s", _55=symbol)
        return message["326"]

    def command(self, config, *lines):
        """Types lines as an operator."""
        done = subprocess.run([CORRO, "client", "--config", config, "--account", "control"], text=True,
                              input="\n".join([*lines, "quit"]) + "\n", capture_output=True, timeout=TIME_LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_instruments_are_listed_and_defined(self):
        with Exchange(self.folder, more=SPREAD) as exchange:
            client = self.connect(exchange.addresses["FIX"])
            client.send("35=x|320=all|559=4|")
            entries = self.read_list(client, "all")
            self.assertEqual([each["55"] for each in entries], ["ESZ6", "CLF7", "ESZ6-C6000", "BTC-USD", "ESZ6-CLF7"])
            self.assertFields(entries[0], _167="FUT", _561="1", _48="1",
                              _58="MinPriceIncrement=0.25 LowLimitPrice=5500 HighLimitPrice=6500 MaxTradeVol=1000000000")
            self.assertFields(entries[2], _167="OPT", _461="OCXXXX", _202="6000")
            self.assertFields(entries[4], _167="MLEG", _555="2")
            self.assertFields(client.ask("35=x|320=one|559=0|55=BTC-USD|"), _35="y", _320="one", _560="0", _393="1",
                              _893="Y", _55="BTC-USD", _561="10")
            self.assertFields(client.ask("35=x|320=none|559=0|55=NONE|"), _35="y", _560="2")
            self.assertFields(client.ask("35=x|320=types|559=1|167=FUT|"), _35="y", _560="1")
            self.assertFields(client.ask("35=x|320=all|559=4|263=1|"), _35="3", _371="263", _373="5")
            self.assertFields(client.ask("35=c|320=d|321=0|55=CLF7|"), _35="d", _323="1", _55="CLF7")
            self.assertFields(client.ask("35=c|320=d|321=0|55=NONE|"), _35="d", _323="6", _55="NONE")
            legs = "35=c|320=d|321=1|555=2|600=CLF7|623=3|624={}|600=ESZ6|624={}|"
            self.assertFields(client.ask(legs.format(2, 1)), _35="d", _323="1", _55="ESZ6-CLF7")
            self.assertFields(client.ask(legs.format(1, 2)), _35="d", _323="2", _55="ESZ6-CLF7")
            self.assertFields(client.ask(legs.format(1, 1)), _35="d", _323="6")
            self.assertFields(client.ask("35=g|335=t|263=0|"), _35="h", _335="t", _336="1", _325="N", _340="2")
            self.assertFields(client.ask("35=g|335=t|336=1|263=0|"), _35="h", _336="1", _340="2")
            self.assertFields(client.ask("35=g|335=t|336=2|263=0|"), _35="h", _335="t", _336="2", _340="6", _567="1")
            self.assertFields(client.ask("35=g|335=t|263=1|"), _35="3", _371="263", _373="5")
            self.assertFields(client.ask("35=e|324=s|55=NONE|263=0|"), _35="f", _326="20", _55="NONE")

            newest = self.connect(exchange.addresses["FIX"], sender="BOB", password=key_of("bob"), version="FIXT.1.1")
            self.assertFields(newest.ask("35=x|320=one|559=0|55=ESZ6|"), _35="y", _969="0.25", _1148="5500", _1149="6500",
                              _1140="1000000000", _561="1")
            self.assertFields(newest.ask("35=c|320=d|321=0|55=ESZ6|"), _35="d", _1310="1", _1301="CORRO", _1148="5500")

    def test_fix_4_2_has_definitions_only(self):
        with Exchange(self.folder) as exchange:
            client = self.connect(exchange.addresses["FIX"], version="FIX.4.2")
            self.assertFields(client.ask("35=x|320=all|559=4|"), _35="j", _380="3", _372="x")
            client.send("35=c|320=all|321=3|")
            defined = [client.next() for _ in range(4)]
            self.assertEqual([each["55"] for each in defined], ["ESZ6", "CLF7", "ESZ6-C6000", "BTC-USD"])
            for each in defined:
                self.assertFields(each, _35="d", _320="all", _323="4", _393="4")

    def test_a_long_list_lets_orders_pass_and_becomes_a_gap_fill(self):
        more = self.journal + "".join(future(number) for number in range(100, 100 + INSTRUMENTS))
        with Exchange(self.folder, more=more) as exchange:
            client = self.connect(exchange.addresses["FIX"])
            # All in one write, so that the others come while the list is under way.
            client.send("35=x|320=first|559=4|")
            client.send("35=D|11=A1|55=ESZ6|54=1|38=5|40=2|44=5900.25|")
            first = client.next()
            self.assertFields(first, _35="y", _393=str(INSTRUMENTS + 4), _893="N")
            seen, kinds, numbers = instruments_of(client.fields), collections.Counter(), [int(first["34"])]
            while True:
                message = client.next()
                kinds[message["35"], message.get("150")] += 1
                numbers.append(int(message["34"]))
                if message["35"] == "y":
                    seen += instruments_of(client.fields)
                    if message["893"] == "Y":
                        break
            if not kinds["8", "0"]:
                self.assertFields(client.next(), _35="8", _150="0", _11="A1")
                numbers.append(numbers[-1] + 1)
            self.assertEqual(numbers, list(range(2, 2 + len(numbers))))
            self.assertEqual(len({each["55"] for each in seen}), INSTRUMENTS + 4)
            last, next_request = numbers[-1], client.number
            exchange.process.send_signal(signal.SIGKILL)
        notes = [line for line in run("journal", "dump", self.journal_folder).stdout.splitlines()
                 if "count_messages" in line]
        messages = -(-(INSTRUMENTS + 4) // 16)
        self.assertGreater(len(notes), 0)
        self.assertLess(len(notes), messages // 2, "notes for messages that leave in one write")
        with Exchange(self.folder, more=more) as exchange:
            client = Client(exchange.addresses["FIX"], number=next_request)
            self.addCleanup(client.close)
            self.assertFields(client.log_on(), _35="A", _34=str(last + 1))
            client.send("35=2|7=2|16=0|")
            again, filled = [], 2
            while filled <= last:
                message = client.next()
                self.assertEqual(message["43"], "Y", message)
                if message["35"] == "4":
                    self.assertEqual(message["123"], "Y")
                    filled = int(message["36"])
                else:
                    self.assertFields(message, _35="8", _11="A1")
                    again.append(message)
                    filled = int(message["34"]) + 1
            self.assertEqual(len(again), 1, "the report comes again, and the list does not")

    def test_a_client_that_asks_for_many_lists_and_does_not_read_costs_little(self):
        more = "".join(future(number) for number in range(100, 100 + INSTRUMENTS))
        with Exchange(self.folder, more=more) as exchange:
            greedy = self.connect(exchange.addresses["FIX"])
            before = exchange.resident_bytes()
            greedy.socket.settimeout(1)
            asked = 0
            try:
                for asked in range(200_000):
                    greedy.send(f"35=x|320=r{asked}|559=4|")
            except TimeoutError:
                pass
            self.assertGreater(asked, 100)
            other = self.connect(exchange.addresses["FIX"], sender="BOB", password=key_of("bob"))
            for number in range(20):
                self.assertFields(other.ask(f"35=D|11={number + 1}|55=ESZ6|54=1|38=5|40=2|44=5900.25|"), _35="8", _150="0")
            if not SANITIZED:
                self.assertLess(exchange.resident_bytes() - before, 32 * 1024 * 1024)

    def test_lists_of_many_sessions_are_whole_and_others_trade_meanwhile(self):
        more = "".join(future(number) for number in range(100, 100 + INSTRUMENTS))
        with Exchange(self.folder, more=more) as exchange:
            change = self.connect(exchange.addresses["FIX"], sender="BOB", password=key_of("bob"))
            lists = []

            def ask_for_lists():
                client = Client(exchange.addresses["FIX"])
                client.log_on()
                for number in range(5):
                    client.send(f"35=x|320=r{number}|559=4|")
                    lists.append(len(self.read_list(client, f"r{number}")))
                client.close()

            asking = threading.Thread(target=ask_for_lists)
            asking.start()
            for number in range(200):
                self.assertFields(change.ask(f"35=D|11={number + 1}|55=ESZ6|54=1|38=5|40=2|44=5900.25|"), _35="8", _150="0")
            asking.join()
            self.assertEqual(lists, [INSTRUMENTS + 4] * 5)

    def test_a_question_of_another_version_than_the_session_is_refused(self):
        with Exchange(self.folder) as exchange:
            client = self.connect(exchange.addresses["FIX"], version="FIXT.1.1")
            self.assertFields(client.ask("35=e|1128=7|324=s|55=ESZ6|263=0|"), _35="3", _371="1128")
            self.assertFields(client.ask("35=e|1128=9|324=s|55=ESZ6|263=0|"), _35="f", _326="17")

    def phases(self, address, config):
        client = self.connect(address)
        self.phases_of(client, config, "ESZ6", "CLF7")
        self.phases_of(client, config, "CLF7", "ESZ6")

    def phases_of(self, client, config, symbol, other):
        self.assertEqual(self.status(client, symbol), "17")
        self.assertFields(client.ask("35=g|335=t|263=0|"), _35="h", _340="2")
        for phase, status in (("halted", "2"), ("pre_open", "21"), ("opening_auction", "22"), ("volatility_auction", "5"),
                              ("closing_auction", "5"), ("closed", "18"), ("continuous", "17")):
            self.command(config, f"phase {phase} {symbol}")
            message = client.ask(f"35=e|324=s|55={symbol}|263=0|")
            self.assertFields(message, _35="f", _326=status, _58=phase)
            self.assertEqual(self.status(client, other), "17")

    def test_phases_in_one_process(self):
        for options in ((), ("--threading", "split")):
            with self.subTest(options=options), Exchange(self.folder, *options, more=CONTROL) as exchange:
                self.write_ports(exchange)
                self.phases(exchange.addresses["FIX"], self.client_config)

    def write_ports(self, exchange):
        """A configuration for `corro client`, with the ports that the exchange has found."""
        self.client_config = os.path.join(self.folder, "client.toml")
        with open(exchange.config, encoding="utf-8") as file:
            text = file.read()
        text = text.replace('[order_entry]\nlisten = "127.0.0.1:0"',
                            f'[order_entry]\nlisten = "{exchange.addresses["order entry"]}"')
        with open(self.client_config, "w", encoding="utf-8") as file:
            file.write(text)

    def serve(self, example, more, *roles):
        """Starts processes with one of the example configurations, on free ports. Returns where FIX is, and the file."""
        ports, config = serve_example(self, self.folder, example, more, *roles)
        return f"127.0.0.1:{ports['7010']}", config

    def test_phases_in_a_gateway_of_its_own(self):
        link = f'[link]\nlisten = "{self.folder}/link"\nsecret = "{secrets.token_hex(32)}"\n'
        address, config = self.serve("demo.toml", CONTROL + self.journal + link, ("--role", "facility"),
                                     ("--role", "gateway"))
        self.phases(address, config)

    def test_phases_in_a_venue_of_partitions(self):
        fix = '\n[fix]\nlisten = "127.0.0.1:7010"\n[[fix_session]]\nname = "ALICE"\naccount = 1\nsession = 4\n'
        address, config = self.serve("partitions.toml", fix, ())
        self.phases(address, config)


if __name__ == "__main__":
    unittest.main(argv=["fix_reference_test.py"])
