#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Order entry by FIX at a running venue: requests and reports, what a Logon must prove, and numbers over kill -9.

usage: fix_order_entry_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import signal
import socket
import sys
import tempfile
import time
import unittest

from running_exchange import SOURCE, TIME_LIMIT_S, Exchange

SOH = "\x01"


def key_of(name):
    """The key that the demonstration prints for an account."""
    with open(os.path.join(SOURCE, "config", "demo.toml"), encoding="utf-8") as file:
        return re.search(rf'name = "{name}"\nkey = "(\w+)"', file.read())[1]


def utc(seconds):
    return time.strftime("%Y%m%d-%H:%M:%S", time.gmtime(seconds))


class Client:
    """One connection; messages are written by hand, "35=D|11=1|..." with | for SOH."""

    def __init__(self, address, sender="ALICE", password=None, number=1, version="FIX.4.4"):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=TIME_LIMIT_S)
        self.sender, self.version, self.number, self.bytes = sender, version, number, b""
        self.password = key_of("alice") if password is None else password

    def send(self, body, number=None):
        if number is None:
            number = self.number
            self.number += 1
        kind, rest = body.split("|", 1)
        header = f"{kind}|49={self.sender}|56=CORRO|34={number}|52={utc(time.time())}|"
        text = (header + rest).replace("|", SOH)
        message = f"8={self.version}{SOH}9={len(text)}{SOH}{text}"
        self.socket.sendall(f"{message}10={sum(message.encode()) % 256:03d}{SOH}".encode())

    def log_on(self, more=""):
        self.send(f"35=A|98=0|108=30|554={self.password}|{more}")
        return self.next()

    def next(self):
        """The next message as a dictionary; None when the venue has closed the connection."""
        while True:
            match = re.match(rb"8=[^\x01]+\x019=(\d+)\x01", self.bytes)
            size = match.end() + int(match[1]) + 7 if match else None
            if size and len(self.bytes) >= size:
                text = self.bytes[:size - 1].decode()
                self.bytes = self.bytes[size:]
                self.fields = [field.split("=", 1) for field in text.split(SOH)]
                return dict(self.fields)
            more = self.socket.recv(65536)
            if not more:
                return None
            self.bytes += more

    def ask(self, body):
        self.send(body)
        return self.next()

    def close(self):
        self.socket.close()


def content(message):
    """What must be the same when a message is sent again."""
    return {tag: value for tag, value in message.items() if tag not in ("9", "10", "43", "52", "122")}


class FixOrderEntry(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.journal = f'\n[facility]\njournal = "{os.path.join(folder.name, "journal")}"\n'

    def connect(self, exchange, **settings):
        client = Client(exchange.addresses["FIX"], **settings)
        self.addCleanup(client.close)
        return client

    def assertFields(self, message, **fields):
        self.assertIsNotNone(message)
        self.assertEqual({tag: message.get(tag) for tag in (name[1:] for name in fields)},
                         {name[1:]: value for name, value in fields.items()}, message)

    def test_an_order_is_entered_replaced_filled_and_cancelled(self):
        with Exchange(self.folder) as exchange:
            client = self.connect(exchange)
            self.assertFields(client.log_on(), _35="A", _34="1", _108="30")
            self.assertFields(client.ask("35=D|11=A1|55=ESZ6|54=1|38=5|40=2|44=5900.25|"), _35="8", _150="0", _39="0",
                              _11="A1", _38="5", _44="5900.25", _14="0", _151="5", _6="0", _34="2")
            self.assertFields(client.ask("35=G|11=A2|41=A1|55=ESZ6|54=1|38=3|40=2|44=5900.50|"), _35="8", _150="5",
                              _11="A2", _41="A1", _38="3", _151="3", _44="5900.5")
            taker = self.connect(exchange, sender="BOB", password=key_of("bob"), version="FIX.4.2")
            taker.log_on()
            self.assertFields(taker.ask("35=D|11=B1|55=ESZ6|54=2|38=1|40=1|"), _35="8", _150="2", _39="2", _20="0",
                              _31="5900.5", _32="1", _151="0", _14="1", _6="5900.5", _11="B1")
            self.assertFields(client.next(), _35="8", _150="F", _39="1", _11="A2", _14="1", _151="2", _38="3", _851="1")
            self.assertFields(client.ask("35=H|11=A2|790=Q|55=ESZ6|54=1|"), _35="8", _150="I", _39="1", _790="Q",
                              _11="A2", _14="1")
            self.assertFields(client.ask("35=F|11=C1|41=A2|55=ESZ6|54=1|"), _35="8", _150="4", _39="4", _11="C1",
                              _41="A2", _14="1", _151="0")
            self.assertFields(client.ask("35=F|11=C2|41=A2|55=ESZ6|54=1|"), _35="9", _434="1", _102="1", _11="C2",
                              _41="A2")
            self.assertFields(client.ask("35=q|11=M1|530=7|"), _35="r", _531="0", _11="M1")
            client.ask("35=D|11=A3|55=ESZ6|54=1|38=5|40=2|44=5900.25|")
            self.assertFields(client.ask("35=q|11=M2|530=7|"), _35="r", _531="7", _11="M2")
            self.assertFields(client.next(), _35="8", _150="4", _11="A3")
            client.send("35=5|")
            self.assertFields(client.next(), _35="5")
            self.assertIsNone(client.next())

    def test_what_is_wrong_is_named_and_has_no_effect(self):
        with Exchange(self.folder) as exchange:
            client = self.connect(exchange)
            client.log_on()
            self.assertFields(client.ask("35=D|11=A1|55=ESZ6|38=5|40=2|44=5900.25|"), _35="3", _371="54", _373="1")
            self.assertFields(client.ask("35=D|11=" + 64 * "x" + "|55=ESZ6|54=1|38=5|40=2|44=1|"), _35="j", _372="D")
            uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
            self.assertFields(client.ask("35=D|11=" + uuid + "|55=ESZ6|54=1|38=5|40=2|44=1|"), _35="8", _39="8", _11=uuid)
            self.assertFields(client.ask("35=D|11=A1|55=NONE|54=1|38=5|40=2|44=5900.25|"), _35="8", _39="8", _103="1")
            self.assertFields(client.ask("35=D|11=A1|55=ESZ6|54=1|38=5|40=2|44=5900.1|"), _35="8", _39="8",
                              _58="price_off_tick")
            self.assertFields(client.ask("35=E|66=1|"), _35="j", _380="3")
            self.assertFields(client.ask("35=*|66=1|"), _35="3", _372="*", _373="11")
            self.assertFields(client.ask("35=1|112=still here|"), _35="0", _112="still here")

    def test_a_logon_must_prove_who_it_is(self):
        with Exchange(self.folder) as exchange:
            self.assertIsNone(self.connect(exchange, sender="NOBODY").log_on())
            self.assertIsNone(self.connect(exchange, password="0" * 64).log_on())
            self.assertIsNone(self.connect(exchange, password="").log_on("58=none|"))
            self.assertIsNone(self.connect(exchange, version="FIX.4.0").log_on())
            self.assertIsNone(self.connect(exchange, number=7).log_on(), "numbers of another venue")
            first = self.connect(exchange)
            self.assertFields(first.log_on(), _35="A")
            self.assertIsNone(self.connect(exchange).log_on(), "another connection has the session")
            self.assertFields(first.ask("35=1|112=x|"), _35="0")

    def test_numbers_and_reports_outlive_a_kill(self):
        with Exchange(self.folder, more=self.journal) as exchange:
            client = self.connect(exchange)
            client.log_on()
            before = [client.ask(f"35=D|11={k}|55=ESZ6|54=1|38={k}|40=2|44=5900|") for k in range(1, 6)]
            self.assertFields(client.ask("35=1|112=between|"), _35="0", _34="7")
            before += [client.ask(f"35=F|11={k + 10}|41={k}|55=ESZ6|54=1|") for k in range(1, 3)]
            number = client.number
            exchange.process.send_signal(signal.SIGKILL)
            exchange.process.wait()
        with Exchange(self.folder, more=self.journal) as exchange:
            client = self.connect(exchange, number=number)
            self.assertFields(client.log_on(), _35="A", _34="10")
            client.send("35=2|7=1|16=0|")
            again = []
            while True:
                message = client.next()
                if message["35"] == "2":
                    self.assertEqual(int(message["7"]), number, "every request is known")
                    continue
                again.append(message)
                if message.get("36", message["34"]) in ("10", "11"):
                    break
            reports = [m for m in again if m["35"] != "4"]
            self.assertTrue(all(m["43"] == "Y" for m in again))
            self.assertEqual([content(m) for m in reports], [content(m) for m in before])
            self.assertFields(client.ask("35=F|11=99|41=5|55=ESZ6|54=1|"), _35="8", _150="4", _14="0", _38="5")

    def test_a_lost_connection_cancels_if_the_logon_asks_for_it(self):
        with Exchange(self.folder) as exchange:
            client = self.connect(exchange)
            client.log_on("20001=Y|")
            client.ask("35=D|11=A1|55=ESZ6|54=1|38=5|40=2|44=5900.25|")
            client.socket.close()
            while True:
                again = self.connect(exchange, number=client.number)
                if again.log_on() is not None:
                    break
                time.sleep(0.05)
            again.send("35=2|7=1|16=0|")
            reports = []
            while len(reports) < 2:
                message = again.next()
                if message["35"] == "8":
                    reports.append(message)
            self.assertFields(reports[1], _150="4", _11="A1")

    def test_a_reset_begins_at_1(self):
        with Exchange(self.folder, more=self.journal) as exchange:
            client = self.connect(exchange)
            client.log_on()
            client.ask("35=D|11=A1|55=ESZ6|54=1|38=5|40=2|44=5900.25|")
            client.send("35=5|")
            self.assertFields(client.next(), _35="5")
            self.assertIsNone(client.next())
            client = self.connect(exchange)
            self.assertFields(client.log_on("141=Y|"), _35="A", _34="1", _141="Y")
            self.assertFields(client.ask("35=H|11=A1|55=ESZ6|54=1|"), _35="8", _150="I", _39="0", _34="2")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
