"""Order entry and the feed of `corro serve` through shared memory, and processes that are killed on either side.

Expects the arguments CORRO SOURCE_FOLDER.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, Exchange, change_text


class SharedMemoryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        # Names that leave no file behind, so that a venue that was killed can start again.
        self.orders = f"@corro-orders-{os.getpid()}"
        self.feed = f"@corro-feed-{os.getpid()}"
        journal = os.path.join(self.folder.name, "journal")
        self.exchange = Exchange(self.folder.name, more=f'\n[facility]\njournal = "{journal}"\n')
        change_text(self.exchange.config,
                    ("[order_entry]\n", f'[order_entry]\nshm_listen = "{self.orders}"\n'),
                    ("[market_data]\n", f'[market_data]\nshm_listen = "{self.feed}"\n'))

    def load(self, *options):
        return subprocess.Popen([CORRO, "load", "--config", self.exchange.config, "--connect", "shm:" + self.orders, *options],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self, process):
        output, _ = process.communicate(timeout=TIME_LIMIT_S)
        return output

    def test_every_request_is_answered_and_the_feed_has_what_tcp_has(self):
        with self.exchange as exchange:
            watching = [subprocess.Popen([CORRO, "watch", "--plain", "--seconds", "15", "--feed", feed, "--snapshot",
                                          exchange.addresses["snapshots"]],
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                        for feed in ("shm:" + self.feed, exchange.addresses["feed"])]
            time.sleep(2)
            loaded = self.load("--clients", "4", "--messages", "20000", "--outstanding", "8")
            output = self.finish(loaded)
            self.assertEqual(loaded.returncode, 0, output)
            self.assertIn("answered once 20000, lost 0", output)
            seen = [re.search(r"saw (\d+) messages and (\d+) trades", self.finish(each)) for each in watching]
            self.assertIsNotNone(seen[0])
            self.assertGreater(int(seen[0][1]), 10_000)
            self.assertEqual(seen[0][0], seen[1][0])

    def test_a_client_that_is_killed_in_mid_flow_harms_nobody(self):
        with self.exchange as exchange:
            for _ in range(5):
                victim = self.load("--clients", "1", "--messages", "100000000", "--outstanding", "64")
                time.sleep(1)
                victim.kill()
                victim.wait()
                victim.stdout.close()
                # Its session is free again at once: nobody waits for a time-out.
                other = self.load("--clients", "1", "--messages", "2000", "--outstanding", "8")
                self.assertIn("answered once 2000, lost 0", self.finish(other))
            self.assertIsNone(exchange.process.poll(), "the venue lives")

    def test_a_venue_that_is_killed_is_noticed_and_its_clients_come_back(self):
        with self.exchange as exchange:
            client = self.load("--clients", "2", "--messages", "4000", "--rate", "1000", "--patience", "60")
            time.sleep(1.5)
            exchange.process.kill()
            exchange.process.wait()
            exchange.process.stdout.close()
            with exchange:
                output = self.finish(client)
        self.assertIn("answered once 4000, lost 0", output)
        self.assertNotIn("could not reconnect", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
