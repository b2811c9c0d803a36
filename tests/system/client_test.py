#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trades by hand: `corro client` on a terminal that a script types at, and with commands from a pipe.

usage: client_test.py CORRO SOURCE_FOLDER

The venue is reached through a relay that can cut the connection, so that a session is lost while the venue goes on.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, Exchange, change_text, free_ports
from terminal import Terminal


class Relay:
    """A way to the venue that can be cut; a context manager."""

    def __init__(self, venue):
        host, port = venue.rsplit(":", 1)
        self.venue = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.open = []
        self.refusing = False
        self.ended = False

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *unused):
        self.ended = True
        self.listener.close()
        self.cut()

    def accept(self):
        while not self.ended:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                if self.refusing:
                    client.close()
                    continue
                venue = socket.create_connection(self.venue)
                self.open += [client, venue]
            for source, sink in ((client, venue), (venue, client)):
                threading.Thread(target=self.forward, args=(source, sink), daemon=True).start()

    @staticmethod
    def forward(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """Breaks every connection and refuses new ones until `mend`."""
        with self.lock:
            self.refusing = True
            for end in self.open:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.open.clear()

    def mend(self):
        self.refusing = False


class Typed:
    """`corro client` without a terminal, given one line after the other; a context manager."""

    def __init__(self, arguments):
        self.command = [CORRO, "client", "--plain", *arguments]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.watchdog = threading.Timer(TIME_LIMIT_S, self.process.kill)
        self.watchdog.start()
        self.wait_for("logged on")
        return self

    def __exit__(self, *unused):
        self.watchdog.cancel()
        if self.process.poll() is None:
            self.process.communicate("quit\n", timeout=TIME_LIMIT_S)

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_for(self, pattern):
        said = []
        for line in self.process.stdout:
            said.append(line)
            if re.search(pattern, line):
                return
        raise AssertionError(f"{pattern!r} was never said, but: {''.join(said)}")


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def arguments(self, exchange, account, venue=None):
        return ["--config", exchange.config, "--account", account, "--venue", venue or exchange.addresses["order entry"],
                "--feed", exchange.addresses["feed"], "--snapshot", exchange.addresses["snapshots"]]

    def commands(self, exchange, account, *lines):
        """Returns the client's output for these lines."""
        done = subprocess.run([CORRO, "client", "--plain", *self.arguments(exchange, account)],
                              input="".join(line + "\n" for line in lines), capture_output=True, text=True,
                              timeout=TIME_LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_takes_commands_from_a_pipe(self):
        with Exchange(self.folder.name) as exchange:
            said = self.commands(exchange, "alice", "buy 10 ESZ6 5998.75", "buy 1 ESZ6 5998.8", "purchase", "orders", "quit")
            self.assertIn("logged on: account 1", said)
            self.assertIn("not a multiple of the tick size, 0.25", said)
            self.assertIn('"purchase" is not a command; see: help', said)
            # A client that reconnects gets the messages of its session.
            again = self.commands(exchange, "alice", "sell 4 ESZ6 5998.75", "quit")
            self.assertIn("#1 open buy 10 ESZ6 @ 5998.75", again)

    def test_an_operator_asks_how_the_venue_is_and_for_a_snapshot(self):
        key = "5f" * 32
        carol = f'\n[[account]]\nid = 9\nname = "carol"\nkey = "{key}"\noperator = true\n'
        journal = os.path.join(self.folder.name, "journal")
        with Exchange(self.folder.name, more=f'\n[facility]\njournal = "{journal}"\n' + carol) as exchange:
            with Typed(self.arguments(exchange, "alice")) as alice:
                alice.type("buy 10 ESZ6 5998.75")
                alice.wait_for("#1 open buy 10 ESZ6")
                alice.type("status")
                alice.wait_for(r"was refused: only operators may ask this \(not_an_operator\)")
            with Typed(self.arguments(exchange, "carol")) as control:
                control.type("status CLF7")
                control.wait_for(r"command 1 sequenced, 1 durable, 0 in the newest snapshot; the journal accepts all commands; "
                                 r"0 requests waiting; feed at 4; 1 of \d+ sessions on; CLF7 is in continuous trading")
                control.type("snapshot")
                control.wait_for("started a snapshot after command 1")
                deadline = time.monotonic() + TIME_LIMIT_S
                while not os.path.exists(os.path.join(journal, "00000000000000000001.snapshot")):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
                control.type("snapshot")
                control.wait_for("no snapshot: the newest one has all durable commands|no new snapshot: one is in progress")

    def test_an_operator_stops_an_account_and_makes_refusals_for_tests(self):
        operator = f'\n[[account]]\nid = 5\nname = "operator"\noperator = true\nkey = "{"6e" * 32}"\n'
        with Exchange(self.folder.name, more=operator) as exchange, Typed(self.arguments(exchange, "alice")) as alice, \
                Typed(self.arguments(exchange, "operator")) as control:
            alice.type("kill 2")
            alice.wait_for("refused: only operators may do this")
            alice.type("buy 10 ESZ6 5990 gtc")
            alice.wait_for("#2 open buy 10 ESZ6")
            control.type("kill 1")
            control.wait_for("done")
            alice.wait_for("#2 cancelled buy 10 ESZ6 @ 5990.00 .*killed")
            alice.type("buy 1 ESZ6 5990")
            alice.wait_for("#3 refused: the kill switch of the session, the account or its firm is on")
            control.type("release 1")
            control.wait_for("done")
            alice.type("buy 2 ESZ6 5990")
            alice.wait_for("#4 open buy 2 ESZ6")
            alice.type("buy 3 CLF7 70")
            alice.wait_for("#5 open buy 3 CLF7")
            control.type("clear 1 ESZ6")
            alice.wait_for("#4 cancelled buy 2 ESZ6")
            control.type("limits 1 open 1")
            control.wait_for("done")
            alice.type("buy 1 CLF7 70")
            alice.wait_for("#6 refused: the account has as many open orders as it may have; 1 are this session's")
            control.type("limits 1")
            control.wait_for("done")
            control.type("settle CLF7 70.5")
            control.wait_for("done")
            alice.wait_for("#5 cancelled buy 3 CLF7")
            alice.type("buy 1 CLF7 70")
            alice.wait_for("#7 refused: the instrument has ended")

    def test_says_what_is_wrong_with_its_start(self):
        with Exchange(self.folder.name) as exchange:
            unknown = subprocess.run([CORRO, "client", "--plain", *self.arguments(exchange, "nobody")],
                                     capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
                                     stdin=subprocess.DEVNULL)
            self.assertEqual(unknown.returncode, 1)
            self.assertIn('has no account "nobody"; it has: alice, bob', unknown.stderr)
            nowhere = subprocess.run([CORRO, "client", "--plain", *self.arguments(exchange, "alice", "127.0.0.1:1")],
                                     capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
                                     stdin=subprocess.DEVNULL)
            self.assertEqual(nowhere.returncode, 1)
            self.assertIn("refused", nowhere.stderr)

    def serve_every_transport(self):
        """Returns an exchange, not started yet, that serves order entry over all transports, and the file of its certificate."""
        certificate, key = (os.path.join(self.folder.name, name) for name in ("certificate.pem", "key.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                        "-subj", "/CN=venue", "-addext", "subjectAltName=DNS:venue.example.com,IP:127.0.0.1",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True, timeout=TIME_LIMIT_S)
        exchange = Exchange(self.folder.name)
        tls, websocket, secure = free_ports(3)
        change_text(exchange.config, ("[order_entry]\n", f"""[order_entry]
tls_listen = "127.0.0.1:{tls}"
websocket_listen = "127.0.0.1:{websocket}"
secure_websocket_listen = "127.0.0.1:{secure}"
unix_listen = "{os.path.join(self.folder.name, "socket")}"
shm_listen = "{os.path.join(self.folder.name, "memory")}"
certificate = "{certificate}"
private_key = "{key}"
"""))
        return exchange, certificate

    @unittest.skipUnless(shutil.which("openssl"), "the program openssl, which makes certificates, is not installed")
    def test_logs_on_over_every_transport(self):
        exchange, certificate = self.serve_every_transport()
        with exchange:
            ports = ["--feed", exchange.addresses["feed"], "--snapshot", exchange.addresses["snapshots"]]
            trust = ["--trust", certificate]

            def client(*options):
                return subprocess.run([CORRO, "client", "--plain", "--config", exchange.config, *ports, *options],
                                      input="buy 1 ESZ6 5990\nquit\n", capture_output=True, text=True, timeout=TIME_LIMIT_S,
                                      check=False)

            for options in (["--tls", *trust], ["--tls", *trust, "--server-name", "venue.example.com"], ["--unix"],
                            ["--shm"], ["--connect", "shm:" + os.path.join(self.folder.name, "memory")], ["--websocket"], ["--tls", "--websocket", *trust]):
                done = client(*options)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("open buy 1 ESZ6 @ 5990", done.stdout)
                loaded = subprocess.run([CORRO, "load", "--config", exchange.config, "--clients", "3", "--messages", "300", *options],
                                        capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
                self.assertEqual(loaded.returncode, 0, loaded.stdout + loaded.stderr)
                self.assertIn("answered once 300, lost 0", loaded.stdout)

            for options, expected in (
                    (["--tls"], "--trust FILE"),
                    (["--tls", *trust, "--server-name", "other.example.com"], "--server-name NAME"),
                    (["--tls", "--trust", exchange.config], "--trust " + exchange.config),
                    (["--tls", *trust, "--venue", exchange.addresses["order entry"]], "leave out --tls"),
                    (["--websocket", "--venue", exchange.addresses["order entry"]], "leave out --websocket"),
                    (["--unix", "--tls"], "--unix excludes --tls"),
                    (["--shm", "--tls"], "--shm excludes --tls"),
                    (["--shm", "--unix"], "--unix excludes --shm"),
                    ([], "give the venue's address with --venue"),
                    (["--trust", certificate], "--tls")):
                refused = client(*options)
                self.assertNotEqual(refused.returncode, 0, refused.stdout)
                self.assertIn(expected, refused.stderr)

    def test_names_the_key_of_a_transport_that_the_configuration_lacks(self):
        with Exchange(self.folder.name) as exchange:
            for option, key in (("--tls", "tls_listen"), ("--unix", "unix_listen"), ("--shm", "shm_listen"),
                                ("--websocket", "websocket_listen")):
                refused = subprocess.run([CORRO, "client", "--plain", "--config", exchange.config, option], capture_output=True,
                                         text=True, timeout=TIME_LIMIT_S, check=False, stdin=subprocess.DEVNULL)
                self.assertEqual(refused.returncode, 1)
                self.assertIn("has no order_entry." + key, refused.stderr)

    @unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
    def test_loses_its_connection_on_a_terminal_and_nothing_else(self):
        with Exchange(self.folder.name) as exchange, Relay(exchange.addresses["order entry"]) as relay, \
                Terminal(self.folder.name, ["client", *self.arguments(exchange, "alice", relay.address)]) as alice:
            alice.wait_for(r"alice .* connected")
            alice.wait_for(r"ESZ6 +0 +- +-")
            # TAB completes the word; the order rests, and both ladder and list show it.
            alice.type("bu")
            alice.type("Tab")
            alice.type("10 ESZ6 5998.75", "Enter")
            alice.wait_for(r"your orders \(1 open\)\n +#1 open buy 10 ESZ6 @ 5998\.75")
            alice.wait_for(r"10 +5998\.75")
            # While the connection is cut another client takes a part of the order.
            relay.cut()
            alice.wait_for("NO CONNECTION")
            alice.type("sell 1 5999", "Enter")
            alice.wait_for("not sent: there is no connection")
            self.commands(exchange, "bob", "sell 4 ESZ6 5998.75", "quit")
            alice.wait_for(r"6 +5998\.75")  # from the feed, not from the session
            relay.mend()
            alice.wait_for("reconnected")
            alice.wait_for(r"#1 bought 4 ESZ6 @ 5998\.75, 6 left")
            alice.wait_for(r"#1 open buy 10 ESZ6 @ 5998\.75, 4 filled")
            # She continues: numbers, orders and cancels are as before.
            alice.type("amend 1 quantity 8", "Enter")
            alice.wait_for(r"#1 open buy 8 ESZ6 @ 5998\.75, 4 filled")
            alice.type("F8")
            alice.wait_for(r"your orders \(0 open\)")
            alice.type("positions", "Enter")
            alice.wait_for(r"ESZ6 \+4, 4 traded")
            alice.type("quit", "Enter")
            alice.wait_for(r"1 orders, 0 open, 1 fills\nleft with 0")
            # What the venue's other session saw agrees: nothing of hers is left in the book.
            self.assertIn("no open orders", self.commands(exchange, "bob", "orders", "quit"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
