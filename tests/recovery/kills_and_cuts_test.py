#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""D9: any number of kills of a venue under load, and then a power cut, lose nothing that was acknowledged.

After a kill the disk still has what was written and not synced, and the next start builds on it; the cut then takes it or tears it.

usage: kills_and_cuts_test.py CORRO SOURCE_FOLDER [--long]      CORRO_CUTS says how often the power fails in all, CORRO_SEED where the dice
begin; without --long once for each of a few venues
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

LONG = "--long" in sys.argv
sys.argv = [each for each in sys.argv if each != "--long"]

from cut_venue import SEED, end_load, run_tests, start_load, start_venue, wait_for
from running_exchange import CORRO, change_text, demo_configuration
from tearing_disk import TearingDisk

# Partitions, what the sockets stand on, durability.
VENUES = [(1, "epoll", "group"), (2, "uring", "group"), (3, "epoll", "each"), (4, "uring", "group"), (1, "uring", "each"),
          (2, "epoll", "group")]
CUTS = int(os.environ.get("CORRO_CUTS", "4" if not LONG else "200"))
CLIENTS = 8
HAS_URING = "uring" in subprocess.run([CORRO, "serve", "--help"], capture_output=True, text=True, check=True).stdout


class Venue:
    """`corro serve` with its journal on a disk whose power fails."""

    def __init__(self, folder, dice, partitions, backend, durability):
        self.backend = backend
        self.config = demo_configuration(folder)
        facility = (f'[facility]\njournal = "{folder}/disk/journal"\ndurability = "{durability}"\n'
                    f'journal_segment_bytes = {dice.choice((65_536, 131_072, 524_288))}\nsnapshot_every = 2_000\n')
        change_text(self.config, ("[venue]\n", facility + "[venue]\n"))
        if partitions > 1:
            self.divide(partitions)
        self.program = None

    def divide(self, partitions):
        """Gives each of the first instruments a partition of its own, and the last one all others."""
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r'^(feed|snapshot|market_data)_listen = .*\n', "", text, flags=re.MULTILINE)
        instruments = [int(each) for each in re.findall(r'^\[\[instrument\]\]\nid = (\d+)', text, flags=re.MULTILINE)]
        products = sorted({int(each) for each in re.findall(r'^product = (\d+)', text, flags=re.MULTILINE)})
        assert len(instruments) >= partitions
        named = instruments[:partitions - 1]
        for number, instrument in enumerate(named):
            text += (f'\n[[partition]]\nname = "PART{number + 1}"\ninstruments = [{instrument}]\norders_max = 100_000\n'
                     'feed_listen = "127.0.0.1:0"\nsnapshot_listen = "127.0.0.1:0"\n')
        text += (f'\n[[partition]]\nname = "REST"\nproducts = {products}\norders_max = 100_000\n'
                 'feed_listen = "127.0.0.1:0"\nsnapshot_listen = "127.0.0.1:0"\n')
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

    def start(self):
        """@return Whether it listens, where it did before."""
        self.program, listens = start_venue(self.config, "--io", self.backend)
        return listens


class KillsAndCuts(unittest.TestCase):
    def trade(self, seed, partitions, backend, durability, cuts, ignores_syncs=False):
        """@return The exit code of the clients' program, its and the venue's output, kills, sectors and names that the disk has lost."""
        dice = random.Random(seed)
        kills = 0
        load = None
        with tempfile.TemporaryDirectory() as folder, \
                TearingDisk(os.path.join(folder, "disk"), dice.random(), ignores_syncs) as disk:
            venue = Venue(folder, dice, partitions, backend, durability)
            try:
                self.assertTrue(venue.start(), venue.program.words())
                load = start_load(venue.config, CLIENTS)
                # The load needs all of its clients once; from then on they come back.
                syncs = disk.syncs_count
                there = wait_for(lambda: disk.syncs_count > syncs + 20, load.process)
                for _ in range(cuts if there else 0):
                    for _ in range(1 + dice.randrange(3)):
                        # At any moment: during a start, before a client has connected, or under load.
                        if dice.random() < 0.7:
                            syncs = disk.syncs_count
                            wait_for(lambda: disk.syncs_count > syncs + 10, load.process)
                        time.sleep(dice.random() * 0.1)
                        venue.program.kill()
                        kills += 1
                        there = venue.start()
                        if not there:
                            break
                    if not there:
                        break
                    syncs = disk.syncs_count
                    going_on = wait_for(lambda: disk.syncs_count > syncs + dice.randrange(40), load.process)
                    time.sleep(dice.random() * 0.05)
                    disk.switch_off()
                    venue.program.kill()
                    if not going_on:
                        break
                    disk.cut_power()
                    there = venue.start()
                    if not there:
                        break
                if there:
                    # All clients reconnect before the end.
                    syncs = disk.syncs_count
                    wait_for(lambda: disk.syncs_count > syncs + 60, load.process)
                return end_load(load, there), load.words() + venue.program.words(), kills, disk.lost_count
            finally:
                for program in (load, venue.program):
                    if program is not None:
                        program.kill()

    def test_nothing_acknowledged_is_lost(self):
        each_round = 4 if LONG else 1
        rounds = (CUTS + each_round - 1) // each_round
        for number in range(rounds):
            partitions, backend, durability = VENUES[number % len(VENUES)]
            if backend == "uring" and not HAS_URING:
                print("without io_uring in this build: epoll instead")
                backend = "epoll"
            seed = SEED + number
            with self.subTest(seed=seed, partitions=partitions, backend=backend, durability=durability):
                cuts = min(each_round, CUTS - number * each_round)
                status, said, kills, lost = self.trade(seed, partitions, backend, durability, cuts)
                self.assertEqual(status, 0, f"CORRO_SEED={seed}\n{said}")
                sent = re.search(rf"{CLIENTS} clients sent (\d+) requests", said)[1]
                self.assertIn(f"answered once {sent}, lost 0", said)
                print(f"{partitions} partitions, {backend}, {durability}: {kills} kills and {cuts} power cuts took {lost} sectors and "
                      f"names; {sent} requests answered once", flush=True)

    @unittest.skipIf(LONG, "./test runs it")
    def test_control_a_disk_that_ignores_syncs_loses_what_was_acknowledged(self):
        status, said, _, _ = self.trade(SEED, 2, "epoll", "group", 4, ignores_syncs=True)
        self.assertNotEqual(status, 0, f"CORRO_SEED={SEED}\n{said}")


if __name__ == "__main__":
    run_tests()
