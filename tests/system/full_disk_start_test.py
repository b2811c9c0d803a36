#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""D5: a venue that was killed starts on a full disk, refuses orders while it is full, and continues by itself.

usage: full_disk_start_test.py CORRO SOURCE_FOLDER
"""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

from running_exchange import TIME_LIMIT_S, Exchange, demo_configuration, run

SEGMENT_BYTES = 65_536


def fill(path):
    """Takes all room of a file system."""
    with open(path, "wb", buffering=0) as ballast:
        for size in (65_536, 4_096):
            while True:
                try:
                    ballast.write(bytes(size))
                except OSError:
                    break


def refused_for_space(words):
    """Whether the sessions refused requests because the journal could not take them. Other refusals have other reasons:
    an order that has just traded is unknown, and a client that comes back uses its order numbers again."""
    return "  refused overloaded " in words


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.disk = f"{self.folder}/disk"
        os.mkdir(self.disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", self.disk], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(lambda: subprocess.run(["umount", self.disk], check=True))
        self.more = f'\n[facility]\njournal = "{self.disk}/journal"\njournal_segment_bytes = {SEGMENT_BYTES}\n'

    def load(self, exchange, messages=200):
        return run("load", "--config", exchange.config, "--venue", exchange.addresses["order entry"], "--clients", "2",
                   "--messages", str(messages))

    def kill_on_a_full_disk(self):
        with Exchange(self.folder, more=self.more) as exchange:
            self.assertEqual(self.load(exchange, 1_500).returncode, 0)
            exchange.process.kill()
            exchange.process.wait()
        # Others take what the venue had in reserve, and leave less room than a segment needs.
        spare = f"{self.disk}/journal/spare"
        if os.path.exists(spare):
            os.remove(spare)
        ballast = f"{self.disk}/ballast"
        fill(ballast)
        os.truncate(ballast, os.path.getsize(ballast) - 6 * 4_096)

    def test_a_start_serves_what_can_be_served_and_goes_on_by_itself(self):
        self.kill_on_a_full_disk()
        with Exchange(self.folder, more=self.more) as exchange:
            full = self.load(exchange, 1_500).stdout
            self.assertRegex(full, "answered once 1500, lost 0, fills 0, refused [1-9]")
            self.assertTrue(refused_for_space(full), full)
            self.assertIsNone(exchange.process.poll(), "the venue runs")
            os.remove(f"{self.disk}/ballast")
            end = time.monotonic() + TIME_LIMIT_S
            last = self.load(exchange)
            while refused_for_space(last.stdout) and time.monotonic() < end:
                time.sleep(1)  # a session may not log on much more often
                last = self.load(exchange)
            self.assertRegex(last.stdout, "answered once 200, lost 0, fills [1-9][0-9]*,", last.stderr)
            self.assertFalse(refused_for_space(last.stdout), last.stdout)
            output = exchange.close()
            self.assertNotIn("has failed", output)
        verified = run("journal", "verify", f"{self.disk}/journal")
        self.assertEqual(verified.returncode, 0, verified.stderr)

    def test_a_generated_journal_that_does_not_fit_ends_with_a_sentence(self):
        fill(f"{self.disk}/ballast")
        os.truncate(f"{self.disk}/ballast", os.path.getsize(f"{self.disk}/ballast") - 400_000)
        config = demo_configuration(self.folder)
        refused = run("generate", "--config", config, f"{self.disk}/journal")
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertRegex(refused.stderr, "disk/journal: the disk is full: the journal has no space after command [1-9][0-9]*; free")

    def test_an_exported_page_that_does_not_fit_names_its_file(self):
        config, journal = demo_configuration(self.folder), f"{self.folder}/generated"
        self.assertEqual(run("generate", "--config", config, journal, "--commands", "5000").returncode, 0)
        # The dashboard's files fit or do not; then the first file of a market does not.
        for left in (8_192, 400_000):
            fill(f"{self.disk}/ballast")
            os.truncate(f"{self.disk}/ballast", max(0, os.path.getsize(f"{self.disk}/ballast") - left))
            refused = run("export", "--config", config, "--journal", journal, f"{self.disk}/page", "--format", "html", "--tick", "16")
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertRegex(refused.stderr, r"disk/page/\S+: No space left on device")
            shutil.rmtree(f"{self.disk}/page")

    def test_without_any_room_it_ends_with_a_sentence_that_is_true(self):
        self.kill_on_a_full_disk()
        # Nothing of the last segment is left to give back either.
        journal = f"{self.disk}/journal"
        with Exchange(self.folder, more=self.more) as exchange:
            exchange.process.kill()
            exchange.process.wait()
        last = f"{journal}/{max(each for each in os.listdir(journal) if each.endswith('.segment'))}"
        os.truncate(last, 512)
        if os.path.exists(f"{journal}/spare"):
            os.remove(f"{journal}/spare")
        fill(f"{self.disk}/more_ballast")
        refused = run("serve", "--config", f"{self.folder}/corro.toml")
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("for a segment of 8192 bytes, the smallest; free some space, then start again", refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=2)
