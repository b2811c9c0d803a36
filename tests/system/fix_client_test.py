#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`corro client --fix` and `corro load --fix` at a running venue: trading, lost connections, restarts of both.

usage: fix_client_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, Exchange, change_text, free_ports

MORE_SESSIONS = "".join(f'\n[[fix_session]]\nname = "LOAD{n}"\naccount = 4\nsession = {n + 1}\n' for n in range(8))


class Desk:
    """`corro client --fix`, given one line after the other; a context manager."""

    def __init__(self, exchange, name, *more):
        self.command = [CORRO, "client", "--plain", "--config", exchange.config, "--fix", name, "--venue", exchange.addresses["FIX"],
                        "--feed", exchange.addresses["feed"], "--snapshot", exchange.addresses["snapshots"], *more]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)
        self.watchdog = threading.Timer(TIME_LIMIT_S, self.process.kill)
        self.watchdog.start()
        self.wait_for("logged on")
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.communicate("quit\n", timeout=TIME_LIMIT_S)
        self.watchdog.cancel()
        self.process.stdin.close()
        self.process.stdout.close()

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

    def ask(self, line, pattern):
        self.type(line)
        self.wait_for(pattern)


def run_client(exchange, *options, lines="quit\n"):
    return subprocess.run([CORRO, "client", "--plain", "--config", exchange.config, "--feed", exchange.addresses["feed"],
                           "--snapshot", exchange.addresses["snapshots"], *options], input=lines, capture_output=True, text=True,
                          timeout=TIME_LIMIT_S, check=False)


def run_load(exchange, *options):
    return subprocess.run([CORRO, "load", "--config", exchange.config, "--fix", "--venue", exchange.addresses["FIX"], *options],
                          capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)


class FixClientTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def lasting(self):
        """An exchange that comes back on its ports, with its journal."""
        exchange = Exchange(self.folder, more=f'\n[facility]\njournal = "{os.path.join(self.folder, "journal")}"\n' + MORE_SESSIONS)
        with open(exchange.config, encoding="utf-8") as file:
            text = file.read()
        for port in free_ports(text.count('"127.0.0.1:0"')):
            text = text.replace('"127.0.0.1:0"', f'"127.0.0.1:{port}"', 1)
        with open(exchange.config, "w", encoding="utf-8") as file:
            file.write(text)
        return exchange

    def test_two_accounts_trade(self):
        with Exchange(self.folder) as exchange, Desk(exchange, "ALICE") as alice, Desk(exchange, "BOB") as bob:
            alice.ask("buy 10 ESZ6 5998.75", r"#\d+ open buy 10 ESZ6 @ 5998\.75")
            alice.type("orders")
            number = None
            for line in alice.process.stdout:
                match = re.search(r"#(\d+) open buy", line)
                if match:
                    number = match[1]
                    break
            alice.ask(f"amend {number} quantity 8 price 5999", rf"#{number} open buy 8 ESZ6 @ 5999\.00")
            bob.ask("sell 3 ESZ6 5999", r"sold 3 ESZ6 @ 5999\.00, 0 left")
            alice.wait_for(rf"#{number} bought 3 ESZ6 @ 5999\.00, 5 left")
            alice.ask(f"status {number}", rf"#{number} open buy 8 ESZ6 @ 5999\.00, 3 filled")
            bob.ask("buy 1 ESZ6 5998.75 post", r"open buy 1 ESZ6 @ 5998\.75")
            alice.ask("sell 1 ESZ6 9000000", "refused: ")
            alice.ask(f"cancel {number}", rf"#{number} cancelled buy")
            alice.ask(f"cancel {number}", "refused: ")
            bob.ask("buy 1 CLF7 market", "cancelled buy .* CLF7 market|refused")
            bob.ask("sell 1 ESZ6 6001", "open sell 1")
            bob.ask("cancel all", "cancelled .* 1 ESZ6")
            bob.wait_for("cancelled .* 1 ESZ6")
            bob.ask("orders", "no open orders")
            alice.ask("positions", r"ESZ6 \+3, 3 traded")
            alice.ask("positions account", r"ESZ6 \+3 in the account, last 5999\.00")
            bob.ask("positions account", r"ESZ6 -3 in the account, last 5999\.00")
            alice.ask("status", "not sent: operators ask by Corro Binary")

    def test_names_what_is_wrong(self):
        with Exchange(self.folder) as exchange:
            unknown = run_client(exchange, "--fix", "CAROL", "--venue", exchange.addresses["FIX"])
            self.assertEqual(unknown.returncode, 1)
            self.assertIn('has no [[fix_session]] "CAROL"; it has: ALICE, BOB', unknown.stderr)
            both = run_client(exchange, "--fix", "ALICE", "--account", "alice")
            self.assertIn("leave out --account", both.stderr)
            over_tls = run_client(exchange, "--fix", "ALICE", "--tls")
            self.assertIn("has no fix.tls_listen; give the venue's address with --venue", over_tls.stderr)
            over_web = run_client(exchange, "--fix", "ALICE", "--websocket")
            self.assertIn("--fix is over TCP or TLS: leave out --websocket", over_web.stderr)
            alone = run_client(exchange, "--store", "numbers")
            self.assertNotEqual(alone.returncode, 0)
            # Another key than the venue's.
            with open(exchange.config, encoding="utf-8") as file:
                text = file.read()
            other = os.path.join(self.folder, "other.toml")
            with open(other, "w", encoding="utf-8") as file:
                file.write(re.sub(r'key = "\w\w', 'key = "99', text))
            refused = subprocess.run([CORRO, "client", "--plain", "--config", other, "--fix", "ALICE", "--venue",
                                      exchange.addresses["FIX"], "--feed", exchange.addresses["feed"], "--snapshot",
                                      exchange.addresses["snapshots"]], input="quit\n", capture_output=True, text=True,
                                     timeout=TIME_LIMIT_S, check=False)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn("the logon was refused", refused.stderr)
            nowhere = run_client(exchange, "--fix", "ALICE", "--venue", "127.0.0.1:1")
            self.assertEqual(nowhere.returncode, 1)
            self.assertIn("127.0.0.1:1: no connection", nowhere.stderr)
            lost = subprocess.run([CORRO, "load", "--config", other, "--fix", "--venue", exchange.addresses["FIX"], "--clients", "1"],
                                  capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
            self.assertEqual(lost.returncode, 1)
            self.assertIn("logon failed: refused as ALICE", lost.stderr)
            few = run_load(exchange, "--clients", "3")
            self.assertNotEqual(few.returncode, 0)
            self.assertIn("have only 2 sessions by FIX for 3 clients; add more [[fix_session]]", few.stderr)

    def certificate(self, name, *more):
        """Files of a new certificate, signed by itself, and of its key."""
        files = [os.path.join(self.folder, f"{name}.{kind}.pem") for kind in ("certificate", "key")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                        "-subj", f"/CN={name}", *more, "-keyout", files[1], "-out", files[0]], check=True, capture_output=True,
                       timeout=TIME_LIMIT_S)
        return files

    @unittest.skipUnless(shutil.which("openssl"), "the program openssl, which makes certificates, is not installed")
    def test_trades_over_tls_with_a_certificate_of_its_own(self):
        venue, venue_key = self.certificate("venue", "-addext", "subjectAltName=IP:127.0.0.1")
        own, own_key = self.certificate("alice")
        other, other_key = self.certificate("stranger")
        exchange = Exchange(self.folder)
        [port] = free_ports(1)
        change_text(exchange.config, ("[order_entry]\n", f'[order_entry]\ncertificate = "{venue}"\nprivate_key = "{venue_key}"\n'),
                    ("[fix]\n", f'[fix]\ntls_listen = "127.0.0.1:{port}"\nclient_issuers = "{own}"\n'))
        trust = ["--fix", "ALICE", "--tls", "--trust", venue]
        shown = ["--certificate", own, "--certificate-key", own_key]
        with exchange:
            done = run_client(exchange, *trust, *shown, lines="buy 1 ESZ6 5990\nquit\n")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("open buy 1 ESZ6 @ 5990", done.stdout)
            loaded = subprocess.run([CORRO, "load", "--config", exchange.config, "--fix", "--tls", "--trust", venue, *shown,
                                     "--clients", "2", "--messages", "500"], capture_output=True, text=True,
                                    timeout=TIME_LIMIT_S, check=False)
            self.assertEqual(loaded.returncode, 0, loaded.stdout + loaded.stderr)
            self.assertIn("answered once 500, lost 0", loaded.stdout)
            for options, expected in (
                    (trust, "--certificate FILE --certificate-key FILE"),
                    ([*trust, "--certificate", other, "--certificate-key", other_key], "--certificate FILE --certificate-key FILE"),
                    ([*trust, "--certificate", own, "--certificate-key", other_key], "--certificate-key " + other_key),
                    ([*trust, "--certificate", own], "--certificate-key"),
                    (["--fix", "ALICE", "--tls", *shown], "--trust FILE"),
                    ([*trust, *shown, "--venue", exchange.addresses["FIX"]], "leave out --tls"),
                    (["--fix", "ALICE", *shown], "--tls")):
                refused = run_client(exchange, *options)
                self.assertNotEqual(refused.returncode, 0, refused.stdout)
                self.assertIn(expected, refused.stderr)

    def test_missed_reports_come_after_a_restart_of_the_venue_and_of_the_client(self):
        exchange = self.lasting()
        store = os.path.join(self.folder, "alice.numbers")
        with exchange:
            with Desk(exchange, "ALICE", "--store", store) as alice:
                alice.ask("buy 10 ESZ6 5998.75", r"#2 open buy 10 ESZ6")
                exchange.process.kill()
                alice.wait_for("connection lost")
                exchange.__exit__()
                exchange.__enter__()
                alice.wait_for("reconnected")
                alice.ask("status 2", r"#2 open buy 10 ESZ6 @ 5998\.75")
            with Desk(exchange, "BOB") as bob:
                bob.ask("sell 4 ESZ6 5998.75", "sold 4 ESZ6")
            # She was away. The numbers of her session are in her file, and the fill comes as soon as she is back.
            with Desk(exchange, "ALICE", "--store", store) as alice:
                alice.wait_for(r"#2 bought 4 ESZ6 @ 5998\.75, 6 left")
                alice.ask("cancel all", "#2 cancelled")
            # A client without a file begins again.
            with Desk(exchange, "ALICE") as alice:
                alice.ask("buy 1 ESZ6 5990", "open buy 1 ESZ6")

    def test_a_load_is_answered_once_and_adds_up(self):
        with self.lasting() as exchange:
            for options in (["-o", "1"], ["-o", "50"], ["--rate", "2000"]):
                done = run_load(exchange, "--clients", "10", "--messages", "3000", "--seed", "7", *options)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("answered once 3000, lost 0", done.stdout)
                self.assertRegex(done.stdout, r"enter_order +\d+")
                self.assertNotIn("connections lost", done.stdout)

    def test_a_load_goes_on_when_the_venue_comes_back(self):
        with self.lasting() as exchange:
            load = subprocess.Popen([CORRO, "load", "--config", exchange.config, "--fix", "--clients", "8", "--messages", "30000",
                                     "--rate", "6000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for line in load.stderr:
                match = re.search(r"(\d+) answered", line)
                if match and int(match[1]) > 0:
                    break
            exchange.process.kill()
            exchange.__exit__()
            exchange.__enter__()
            output, errors = load.communicate(timeout=TIME_LIMIT_S)
            self.assertEqual(load.returncode, 0, output + errors)
            self.assertIn("answered once 30000, lost 0", output)
            self.assertIn("connections lost 8 in ", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
