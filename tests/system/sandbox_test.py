#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/howto/sandbox.md describes: `corro proxy` between clients and a venue, a clock of one's choice, and accounts that come
while the venue runs.

usage: sandbox_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, Exchange, change_text, run


class Program:
    """`corro` with lines typed and printed; a context manager."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([CORRO, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)
        self.lines, self.seen, self.changed = [], 0, threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def expect(self, pattern, seconds=TIME_LIMIT_S):
        """The next line with the pattern, behind those expected before; None if there is none in time."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                for at in range(self.seen, len(self.lines)):
                    if re.search(pattern, self.lines[at]):
                        self.seen = at + 1
                        return self.lines[at]
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                self.changed.wait(left)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


class Sandbox(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def expect(self, of, pattern):
        line = of.expect(pattern)
        self.assertIsNotNone(line, f"{pattern} is missing in:\n" + "\n".join(of.lines))
        return line

    def proxy_of(self, venue, *options):
        proxy = self.enterContext(Program("proxy", "--listen", "127.0.0.1:0", "--venue", venue, *options))
        return proxy, re.match(r"passing (\S+) on to", self.expect(proxy, "passing"))[1]

    def client_of(self, exchange, address, *who):
        return self.enterContext(Program("client", "--plain", "--config", exchange.config, *who, "--venue", address,
                                         "--feed", exchange.addresses["feed"], "--snapshot", exchange.addresses["snapshots"]))

    def say(self, proxy, command, answer):
        proxy.type(command)
        return self.expect(proxy, answer)

    def test_a_proxy_disturbs_a_session_of_corro_binary(self):
        with Exchange(self.folder) as exchange:
            proxy, address = self.proxy_of(exchange.addresses["order entry"])
            alice = self.client_of(exchange, address, "--account", "alice")
            self.expect(alice, "logged on")
            alice.type("buy 1 ESZ6 5990")
            self.expect(alice, "#1 open buy 1 ESZ6 @ 5990")

            self.say(proxy, "spoil 1", "orders to be spoiled: 1")
            alice.type("buy 1 ESZ6 5990")
            self.expect(alice, r"#2 refused: .*\(invalid_quantity\)")
            alice.type("buy 1 ESZ6 5990")
            self.expect(alice, "open buy 1 ESZ6")
            self.say(proxy, "spoil 1 price", "to be spoiled")
            alice.type("buy 1 ESZ6 5990")
            self.expect(alice, r"#4 refused: .*\(price_outside_band\)")
            self.say(proxy, "spoil 1 instrument", "to be spoiled")
            alice.type("buy 1 ESZ6 5990")
            self.expect(alice, r"#5 refused: .*unknown_instrument")

            self.say(proxy, "delay 200", "delay from 200 to 200 ms")
            begun = time.monotonic()
            alice.type("buy 1 ESZ6 5989")
            self.expect(alice, "#6 open")
            self.assertGreater(time.monotonic() - begun, 0.4)
            self.say(proxy, "delay 0", "delay from 0 to 0 ms")

            self.say(proxy, "hold", "nothing passes")
            alice.type("buy 1 ESZ6 5988")
            self.assertIsNone(alice.expect("#7", 0.3))
            self.say(proxy, "go", "everything passes")
            self.expect(alice, "#7 open")

            self.say(proxy, "cut", "connections cut: 1")
            self.expect(alice, "connection lost")
            self.expect(alice, "reconnected")
            self.say(proxy, "close", "new connections are refused")
            self.say(proxy, "reset", "connections reset: 1")
            self.expect(alice, "connection lost")
            self.assertIsNone(alice.expect("reconnected", 0.3))
            self.say(proxy, "open", "new connections are accepted")
            self.expect(alice, "reconnected")
            # Nothing was lost, and nothing happened twice.
            alice.type("orders")
            for number in (1, 3, 6, 7):
                self.expect(alice, f"#{number} open buy 1 ESZ6")
            self.say(proxy, "status", r"connections: 1, since the start: \d+; bytes to the venue: \d+, from it: \d+; orders spoiled: 3, to come: 0")
            self.say(proxy, "dance", 'unknown command "dance"; see: help')
            self.say(proxy, "quit", "orders spoiled: 3")
            self.assertEqual(proxy.process.wait(TIME_LIMIT_S), 0)

    def test_a_proxy_spoils_orders_of_fix(self):
        with Exchange(self.folder) as exchange:
            proxy, address = self.proxy_of(exchange.addresses["FIX"], "--do", "spoil 1 price", "--do", "delay 0 5")
            self.expect(proxy, "orders to be spoiled: 1")
            alice = self.client_of(exchange, address, "--fix", "ALICE")
            alice.type("buy 1 ESZ6 5990")
            self.expect(alice, r"refused: .*\(price_outside_band\)")
            self.say(proxy, "spoil 1 instrument", "to be spoiled")
            alice.type("buy 1 ESZ6 5990")
            self.expect(alice, "refused: ")
            alice.type("buy 1 ESZ6 5990")
            self.expect(alice, "open buy 1 ESZ6")

    def test_a_proxy_names_what_it_cannot_do(self):
        done = run("proxy", "--venue", "127.0.0.1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("127.0.0.1", done.stderr)
        done = run("proxy", "--listen", "127.0.0.1:0", "--do", "jump")
        self.assertEqual(done.returncode, 1)
        self.assertIn('unknown command "jump"', done.stderr)

    def test_a_venue_has_the_clock_that_a_test_gives_it(self):
        log = os.path.join(self.folder, "log")
        with Exchange(self.folder, "--event-log", log, "--clock", "2030-12-31T23:59:58.5") as exchange:
            load = run("load", "--config", exchange.config, "--venue", exchange.addresses["order entry"], "--clients", "1",
                       "--messages", "20")
            self.assertIn("lost 0", load.stdout)
            exchange.close()
        with open(os.path.join(log, "events.1.csv"), encoding="utf-8") as file:
            times = [line.split(",")[1] for line in file][1:]
        self.assertTrue(times)
        self.assertTrue(all(each.startswith(("2030-12-31T23:59:5", "2031-01-01T00:0")) for each in times), times[:3])
        refused = run("serve", "--config", os.path.join(self.folder, "corro.toml"), "--clock", "noon")
        self.assertEqual(refused.returncode, 1)
        self.assertIn('--clock: "noon" is not a time', refused.stderr)

    def test_an_account_comes_while_the_venue_runs(self):
        change = ('keys = "public"', 'keys = "public"\nsessions_reserved = 16')
        with Reserved(self.folder, change) as exchange:
            with open(exchange.config, "a", encoding="utf-8") as file:
                file.write(f'\n[[account]]\nid = 5\nname = "carol"\nkey = "{os.urandom(32).hex()}"\nsessions = 2\n')
            # A venue that answers a logon has its signal handlers, too.
            self.expect(self.client_of(exchange, exchange.addresses["order entry"], "--account", "alice"), "logged on")
            exchange.process.send_signal(signal.SIGHUP)
            self.assertIn("1 accounts are new", exchange.read_until("accounts are new"))
            carol = self.client_of(exchange, exchange.addresses["order entry"], "--account", "carol")
            carol.type("buy 1 ESZ6 5990")
            self.expect(carol, "#1 open buy 1 ESZ6")


class Reserved(Exchange):
    def __init__(self, folder, change):
        super().__init__(folder)
        change_text(self.config, change)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
