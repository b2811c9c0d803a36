#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""N4: ten thousand sessions at one venue, the clients in a process of their own, and what each costs the venue.

usage: many_sessions_test.py CORRO SOURCE_FOLDER [SANITIZERS]
"""

import resource
import subprocess
import sys
import tempfile
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, Exchange, change_text

# With a sanitizer memory and time do not count; the test then checks only that every session is served.
SANITIZED = any(sys.argv[3:])  # a sanitizer keeps freed memory
SESSIONS = 500 if SANITIZED else 10_000
DESCRIPTORS_BESIDE = 100
BYTES_PER_SESSION_MAX = 32 * 1024


class ManySessions(unittest.TestCase):
    def test_ten_thousand_sessions_trade_at_one_venue_and_cost_little_each(self):
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if allowed != resource.RLIM_INFINITY and allowed < SESSIONS + DESCRIPTORS_BESIDE:
            self.skipTest(f"this machine allows a process {allowed} files")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        venue = Exchange(folder.name)
        change_text(venue.config, ("\nsessions = 2000\n", f"\nsessions = {SESSIONS}\n"))
        with venue as exchange:
            before = exchange.resident_bytes()
            load = subprocess.Popen([CORRO, "load", "--config", exchange.config, "--venue",
                                     exchange.addresses["order entry"], "--clients", str(SESSIONS), "--messages",
                                     str(10 * SESSIONS), "--patience", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True, stdin=subprocess.DEVNULL)
            peak = before
            said = []
            for line in load.stdout:
                said.append(line)
                if "clients logged on" in line:
                    peak = max(peak, exchange.resident_bytes())
            load.stdout.close()
            load.wait(timeout=TIME_LIMIT_S)
            output = "".join(said)
            self.assertEqual(load.returncode, 0, output)
            self.assertIn(f"answered once {10 * SESSIONS}, lost 0", output)
            self.assertIn(f"{SESSIONS} clients sent", output)  # none sends before all are logged on
            each = (peak - before) // SESSIONS
            print(f"{SESSIONS} sessions at once: {each} bytes of the venue's memory for each, with its orders and answers")
            if not SANITIZED:
                self.assertGreater(each, 0)
                self.assertLess(each, BYTES_PER_SESSION_MAX)
            closed = exchange.close()
            self.assertEqual(exchange.process.returncode, 0, closed)
            self.assertIn(f"sessions     {SESSIONS} logons, 0 refused", closed)


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=2)
