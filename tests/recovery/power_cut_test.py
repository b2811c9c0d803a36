#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""D2: what a venue has acknowledged survives a power cut, on a file system that keeps what was synced and tears the rest.

usage: power_cut_test.py CORRO SOURCE_FOLDER      CORRO_CUTS says how often the power fails, CORRO_SEED where the dice begin
"""

import os
import random
import re
import tempfile
import time
import unittest

from cut_venue import SEED, end_load, run_tests, start_load, start_venue, wait_for
from running_exchange import change_text, demo_configuration
from tearing_disk import TearingDisk

CUTS = int(os.environ.get("CORRO_CUTS", "5"))


class PowerCut(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.random = random.Random(SEED)

    def trade_through_cuts(self, durability, ignores_syncs, cuts):
        """@return The exit code of the clients' program, its output, and the numbers of sectors and names that the disk has lost."""
        config = demo_configuration(self.folder)
        change_text(config, ("[venue]\n", f'[facility]\njournal = "{self.folder}/disk/journal"\n'
                             f'durability = "{durability}"\njournal_segment_bytes = 524_288\n[venue]\n'))
        venue = load = None
        with TearingDisk(os.path.join(self.folder, "disk"), self.random.random(), ignores_syncs) as disk:
            try:
                venue, listens = start_venue(config)
                self.assertTrue(listens, venue.words())
                load = start_load(config, 8)
                for cut in range(cuts):
                    syncs = disk.syncs_count
                    going_on = wait_for(lambda: disk.syncs_count > syncs + 20, load.process)
                    time.sleep(self.random.random() * 0.2)
                    disk.switch_off()
                    venue.kill()
                    if not going_on:
                        break
                    disk.cut_power()
                    venue, listens = start_venue(config)
                    if not listens or not wait_for(lambda: len(re.findall("reconnected after", load.words())) > cut, load.process):
                        break
                return end_load(load, listens), load.words(), disk.lost_count
            finally:
                for program in (load, venue):
                    if program is not None:
                        program.kill()

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
    run_tests()
