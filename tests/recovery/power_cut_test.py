#!/usr/bin/env python3
"""D2: what a venue has acknowledged survives a power cut, on a file system that keeps what was synced and tears the rest.

usage: power_cut_test.py CORRO SOURCE_FOLDER      CORRO_CUTS says how often the power fails, CORRO_SEED where the dice begin
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from running_exchange import CORRO, TIME_LIMIT_S, change_text, demo_configuration
from tearing_disk import TearingDisk

CUTS = int(os.environ.get("CORRO_CUTS", "5"))
SEED = int(os.environ.get("CORRO_SEED", "20240229"))


def wait_for(what, program):
    end = time.monotonic() + TIME_LIMIT_S
    while not what():
        if program.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class PowerCut(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.random = random.Random(SEED)

    def start_venue(self):
        """@return The venue, once it listens; None when it refuses what it finds."""
        path = os.path.join(self.folder, "venue.said")
        with open(path, "w", encoding="utf-8") as said:
            venue = subprocess.Popen([CORRO, "serve", "--config", self.config], stdout=said, stderr=subprocess.STDOUT,
                                     stdin=subprocess.DEVNULL)

        def words():
            with open(path, encoding="utf-8") as file:
                return file.read()
        self.addCleanup(lambda: venue.poll() is None and venue.kill())
        if wait_for(lambda: "Ctrl-C closes it" in words(), venue):
            # From now on it listens where its clients look for it.
            address = re.search(r"order entry +(\S+)", words())[1]
            with open(self.config, encoding="utf-8") as file:
                text = file.read()
            with open(self.config, "w", encoding="utf-8") as file:
                file.write(re.sub(r'^listen = ".*"$', f'listen = "{address}"', text, flags=re.MULTILINE))
            return venue
        self.refusal = words()
        return None

    def trade_through_cuts(self, durability, ignores_syncs, cuts):
        """@return What the clients' program ended with, what it said, and how many sectors and names the disk has lost."""
        self.config = demo_configuration(self.folder)
        change_text(self.config, ("[venue]\n", f'[facility]\njournal = "{self.folder}/disk/journal"\n'
                                  f'durability = "{durability}"\njournal_segment_bytes = 524_288\n[venue]\n'))
        load = None
        with TearingDisk(os.path.join(self.folder, "disk"), self.random.random(), ignores_syncs) as disk:
            try:
                venue = self.start_venue()
                self.assertIsNotNone(venue, getattr(self, "refusal", ""))
                path = os.path.join(self.folder, "load.said")
                with open(path, "w", encoding="utf-8") as said:
                    load = subprocess.Popen([CORRO, "load", "--config", self.config, "--clients", "8", "--outstanding", "4",
                                             "--messages", "100000000", "--seconds", "1000000"], stdout=said,
                                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

                def words():
                    with open(path, encoding="utf-8") as file:
                        return file.read()
                for cut in range(cuts):
                    syncs = disk.syncs_count
                    going_on = wait_for(lambda: disk.syncs_count > syncs + 20, load)
                    time.sleep(self.random.random() * 0.2)
                    disk.switch_off()
                    venue.kill()
                    venue.wait()
                    if not going_on:
                        break
                    disk.cut_power()
                    venue = self.start_venue()
                    if venue is None or not wait_for(lambda: len(re.findall("back after", words())) > cut, load):
                        break
                if load.poll() is None:
                    load.send_signal(signal.SIGINT)
                if venue is None:
                    load.send_signal(signal.SIGINT)  # it will not be answered any more
                load.wait(timeout=TIME_LIMIT_S)
                return load.returncode, words(), disk.lost_count
            finally:
                for program in (load, venue):
                    if program is not None and program.poll() is None:
                        program.kill()
                        program.wait()

    def test_nothing_acknowledged_is_lost_in_group_and_each(self):
        for durability in ("group", "each"):
            with self.subTest(durability=durability):
                status, said, lost = self.trade_through_cuts(durability, False, CUTS)
                self.assertEqual(status, 0, f"CORRO_SEED={SEED}\n{said}")
                sent = re.search(r"8 clients sent (\d+) requests", said)[1]
                self.assertIn(f"answered once {sent}, lost 0", said)
                self.assertIn(f"in {CUTS} outages, back {8 * CUTS}", said)
                print(f"{durability}: {CUTS} power cuts took {lost} sectors and names; {sent} requests answered once")

    def test_control_a_disk_that_ignores_syncs_loses_what_was_acknowledged(self):
        status, said, _ = self.trade_through_cuts("group", True, 5)
        self.assertNotEqual(status, 0, f"CORRO_SEED={SEED}\n{said}")


if __name__ == "__main__":
    try:
        with tempfile.TemporaryDirectory() as probe, TearingDisk(probe, 0):
            pass
    except OSError as error:
        print(f"skipped: no file system can be mounted here: {error}")
        sys.exit(77)
    print(f"CORRO_SEED={SEED}")
    unittest.main(argv=[__file__], verbosity=2)
