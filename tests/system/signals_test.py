#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""O3: events that must not end a venue: a closed terminal, a closed standard output, an early signal.

usage: signals_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from running_exchange import CORRO, TIME_LIMIT_S, Exchange, demo_configuration

METRICS = '[metrics]\nlisten = "127.0.0.1:0"\n'


class Signals(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def assert_ready(self, exchange):
        base = exchange.addresses["metrics"].removesuffix("/metrics")
        for path in ("/ready", "/health"):
            with urllib.request.urlopen(base + path, timeout=TIME_LIMIT_S) as page:
                self.assertEqual(page.status, 200)

    def test_O3_goes_on_when_the_terminal_goes_away(self):
        with Exchange(self.folder.name, more=METRICS) as exchange:
            exchange.process.send_signal(signal.SIGHUP)
            self.assert_ready(exchange)
            exchange.close()
            self.assertEqual(exchange.process.returncode, 0)

    def supervised(self, path, **more):
        """A venue that systemd would have started, and the socket that its messages arrive at."""
        told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(told.close)
        told.bind(path.replace("@", "\0"))
        told.settimeout(TIME_LIMIT_S)
        os.environ.update(NOTIFY_SOCKET=path, WATCHDOG_USEC="100000", **more)
        try:
            exchange = Exchange(self.folder.name)
            exchange.__enter__()
        finally:
            for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", *more):
                del os.environ[name]
        self.addCleanup(exchange.__exit__, None, None, None)
        return exchange, told

    def test_O3_reports_to_its_supervisor_that_it_serves_lives_and_closes(self):
        exchange, told = self.supervised(f"@corro-test-{os.getpid()}")
        self.assertEqual([told.recv(100) for _ in range(4)], [b"READY=1"] + [b"WATCHDOG=1"] * 3)
        # A process that stands still reports nothing.
        exchange.process.send_signal(signal.SIGSTOP)
        told.settimeout(0.5)
        with self.assertRaises(TimeoutError):
            for _ in range(100):
                told.recv(100)
        exchange.process.send_signal(signal.SIGCONT)
        told.settimeout(TIME_LIMIT_S)
        self.assertEqual(told.recv(100), b"WATCHDOG=1")
        exchange.process.send_signal(signal.SIGTERM)
        while (message := told.recv(100)) == b"WATCHDOG=1":
            pass
        self.assertEqual(message, b"STOPPING=1")
        self.assertEqual(exchange.process.wait(TIME_LIMIT_S), 0)

    def test_O3_a_watchdog_of_another_process_is_not_its_own(self):
        _, told = self.supervised(os.path.join(self.folder.name, "notify"), WATCHDOG_PID="1")
        self.assertEqual(told.recv(100), b"READY=1")
        told.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            told.recv(100)

    def test_O3_goes_on_when_its_output_is_closed(self):
        with Exchange(self.folder.name, more=METRICS) as exchange:
            exchange.process.stdout.close()
            # More than its buffers hold.
            for _ in range(40):
                exchange.process.send_signal(signal.SIGUSR1)
                self.assert_ready(exchange)
            exchange.process.send_signal(signal.SIGTERM)
            self.assertEqual(exchange.process.wait(TIME_LIMIT_S), 0)

    def test_O3_a_start_that_may_open_too_few_descriptors_gives_a_notice(self):
        config = demo_configuration(self.folder.name)
        few = 1024
        for limit in (few, resource.getrlimit(resource.RLIMIT_NOFILE)[1]):
            with self.subTest(limit=limit), subprocess.Popen(
                    ["sh", "-c", f'ulimit -n {limit} && exec "$0" serve --config "$1"', CORRO, config],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True) as venue:
                output = ""
                while "Ctrl-C closes it" not in output:
                    line = venue.stdout.readline()
                    self.assertNotEqual(line, "", output)
                    output += line
                venue.send_signal(signal.SIGTERM)
                venue.communicate(timeout=TIME_LIMIT_S)
                notice = re.search(r"needs (\d+) descriptors, but can open only (\d+)", output)
                if limit == few:
                    self.assertIsNotNone(notice, output)
                    self.assertEqual(int(notice[2]), few)
                    needed = int(notice[1])
                elif limit >= needed:
                    self.assertIsNone(notice, output)

    def test_O3_an_order_to_end_during_the_start_is_obeyed_after_it(self):
        journal = os.path.join(self.folder.name, "journal")
        config = demo_configuration(self.folder.name, f'[facility]\njournal = "{journal}"\n')
        os.chmod(config, 0o600)  # a secret will stand in it
        for role in ("all", "facility"):
            link = ["--role", role] if role != "all" else []
            if role != "all":
                with open(config, "a", encoding="utf-8") as file:
                    file.write(f'[link]\nlisten = "@corro-signals-{os.getpid()}"\nsecret = "{"5a" * 32}"\n')
            with self.subTest(role=role), subprocess.Popen(
                    [CORRO, "serve", "--config", config, *link], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL, text=True) as venue:
                # The recovery begins with the lock.
                while venue.poll() is None and not os.path.exists(os.path.join(journal, "lock")):
                    time.sleep(0.001)
                venue.send_signal(signal.SIGTERM)
                output, _ = venue.communicate(timeout=TIME_LIMIT_S)
                self.assertEqual(venue.returncode, 0, output)
                self.assertIn("Ctrl-C closes it", output)
                self.assertIn("state hash", output)
            os.unlink(os.path.join(journal, "lock"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
