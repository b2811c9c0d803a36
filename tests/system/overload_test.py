#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""O2: overload is shed, not queued: at multiples of what a venue is rated for, requests are refused by name, nothing is lost, its
memory does not grow, and afterwards it is as before.

usage: overload_test.py CORRO SOURCE_FOLDER [SANITIZERS]
"""

import re
import sys
import tempfile
import time
import unittest

from running_exchange import Exchange, change_text, run

SANITIZED = any(sys.argv[3:])  # a sanitizer keeps freed memory
CLIENTS = 10
WINDOW_S = 0.2
REQUESTS_MAX = 10  # of a session in a window
RATED = CLIENTS * REQUESTS_MAX / WINDOW_S
NO_CANCELS = ("--new", "100", "--cancel", "0", "--market", "100")  # cancels are never throttled
GROWTH_BYTES_MAX = 8 << 20  # a thirtieth of what the feed's log alone would take if it were not bounded


class Overload(unittest.TestCase):
    def venue(self, *order_entry):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        venue = Exchange(folder.name)
        # Small logs, so that they are full soon and a growth beyond them shows.
        order_entry = ["answers_kept = 20_000", "session_answers_kept = 256", *order_entry]
        change_text(venue.config, ("[order_entry]\n", "\n".join(["[order_entry]", *order_entry, ""])),
                    ("[market_data]\n", "[market_data]\nfeed_log_bytes = 1_048_576\n"))
        return venue

    def load(self, venue, messages, *options):
        """@return How many requests were answered, how many of them refused as throttled, and the seconds it took."""
        load = run("load", "--config", venue.config, "--venue", venue.addresses["order entry"], "--messages",
                   str(messages), *options)
        self.assertEqual(load.returncode, 0, load.stdout + load.stderr)
        self.assertIn(f"answered once {messages}, lost 0", load.stdout)
        throttled = re.search(r"refused throttled +(\d+)", load.stdout)
        return int(throttled[1]) if throttled else 0, float(re.search(r"requests in ([\d.]+) s", load.stdout)[1])

    def test_multiples_of_the_rated_load_are_refused_by_name_and_leave_no_trace(self):
        with self.venue(f"requests_max = {REQUESTS_MAX}", f"requests_window_ms = {int(1000 * WINDOW_S)}") as venue:
            before = None
            for times in (2, 2, 5, 10):
                messages = int(times * RATED * 2)
                throttled, seconds = self.load(venue, messages, "--clients", str(CLIENTS), "--rate", str(times * RATED),
                                               *NO_CANCELS)
                windows = seconds / WINDOW_S + 2
                self.assertLessEqual(messages - throttled, CLIENTS * REQUESTS_MAX * windows)
                self.assertGreater(throttled, 0)
                now = venue.resident_bytes()
                print(f"{times} times the rated load: {throttled} of {messages} refused, {now >> 20} MiB")
                before = before or now  # the first run fills the logs
                self.assertTrue(SANITIZED or now - before < GROWTH_BYTES_MAX)
                time.sleep(1.5 * WINDOW_S)
                throttled, _ = self.load(venue, REQUESTS_MAX, "--clients", "1")
                self.assertEqual(throttled, 0, "a window later everything is as before")

    def test_clients_who_send_all_they_may_at_once_are_served_in_bounded_memory(self):
        with self.venue() as venue:
            before = None
            for outstanding in (16, 512, 512):
                self.load(venue, 30_000, "--clients", "50", "--outstanding", str(outstanding))
                now = venue.resident_bytes()
                print(f"50 clients with {outstanding} requests out each: {now >> 20} MiB")
                if outstanding == 512:
                    before = before or now
                    self.assertTrue(SANITIZED or now - before < GROWTH_BYTES_MAX)

    def test_notices_a_venue_that_refuses_nothing(self):
        """The control: without a throttle the same flood is accepted."""
        with self.venue() as venue:
            throttled, _ = self.load(venue, int(10 * RATED), "--clients", str(CLIENTS), "--rate", str(10 * RATED),
                                     *NO_CANCELS)
            self.assertEqual(throttled, 0)


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=2)
