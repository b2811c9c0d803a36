# SPDX-License-Identifier: Apache-2.0
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

    def watch(self, name, feed, snapshots):
        """@return The process, and the file with what it prints."""
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as output:
            process = subprocess.Popen([CORRO, "watch", "--plain", "--feed", feed, "--snapshot", snapshots], stdout=output,
                                       stderr=subprocess.STDOUT)
        self.addCleanup(process.kill)
        return process, path

    def rates(self, watching):
        """Messages in each second so far."""
        with open(watching[1], encoding="utf-8") as output:
            return [int(each) for each in re.findall(r"(\d+) messages/s", output.read())]

    def end_of(self, watching):
        watching[0].terminate()
        watching[0].wait(timeout=TIME_LIMIT_S)
        with open(watching[1], encoding="utf-8") as output:
            return output.read()

    def wait_for(self, what):
        end = time.monotonic() + TIME_LIMIT_S
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def test_every_request_is_answered_and_the_feed_has_what_tcp_has(self):
        with self.exchange as exchange:
            watching = [self.watch(name, feed, exchange.addresses["snapshots"])
                        for name, feed in (("shm", "shm:" + self.feed), ("tcp", exchange.addresses["feed"]))]
            self.wait_for(lambda: all(self.rates(each) for each in watching))
            loaded = self.load("--clients", "4", "--messages", "20000", "--outstanding", "8")
            output = self.finish(loaded)
            self.assertEqual(loaded.returncode, 0, output)
            self.assertIn("answered once 20000, lost 0", output)
            # Both have everything when nothing comes any more.
            self.wait_for(lambda: all(any(self.rates(each)) and self.rates(each)[-3:] == [0, 0, 0] for each in watching))
            seen = [re.search(r"saw (\d+) messages and (\d+) trades", self.end_of(each)) for each in watching]
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
