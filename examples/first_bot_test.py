#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the bot of the first tutorial against the demonstration, and adds up what it prints.

    first_bot_test.py CORRO SOURCE_FOLDER FIRST_BOT
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
import unittest

sys.path.insert(0, os.path.join(sys.argv[2], "tests", "system"))
from running_exchange import CORRO, TIME_LIMIT_S, example_configuration, free_ports

BOT = sys.argv[3]


class FirstBot(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.config = os.path.join(self.folder.name, "demo.toml")
        text = example_configuration("demo.toml")
        for old, new in zip(("7001", "7002", "7003", "7010", "7011", "7020"), free_ports(6)):
            text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

        with open(self.config, "rb") as file:
            exchange = tomllib.load(file)
        alice = next(each for each in exchange["account"] if each["name"] == "alice")
        self.venue = (exchange["order_entry"]["listen"], exchange["market_data"]["snapshot_listen"],
                      str(alice["id"]), alice["key"])

    def bot(self, *arguments):
        return subprocess.run([BOT, *arguments], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)

    def test_quotes_trades_and_knows_its_position(self):
        with subprocess.Popen([CORRO, "demo", "--config", self.config, "--plain"], stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL) as demo:
            for line in demo.stdout:
                if "messages/s" in line:
                    break
            ran = self.bot(*self.venue, "ESZ6", "5")
            unknown = self.bot(*self.venue, "XYZ", "5")
            demo.send_signal(signal.SIGINT)
            demo.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        lines = ran.stdout.splitlines()
        position = 0
        for line in lines[:-1]:
            fill = re.fullmatch(r"(bought|sold  ) (\d+) at \d+\.\d\d, position (-?\d+)", line)
            self.assertTrue(fill, line)
            position += int(fill[2]) if fill[1] == "bought" else -int(fill[2])
            self.assertEqual(int(fill[3]), position)
        self.assertGreaterEqual(len(lines), 4, ran.stdout)
        self.assertEqual(lines[-1], f"position {position}")
        self.assertEqual((unknown.returncode, unknown.stderr), (1, "no price of XYZ: the venue has no such instrument\n"))

    def test_says_that_there_is_no_venue(self):
        ran = self.bot(*self.venue, "ESZ6", "5")
        self.assertEqual((ran.returncode, ran.stderr), (1, "no price of ESZ6: Connection refused\n"))

    def test_refuses_what_is_no_address_and_no_key(self):
        self.assertEqual(self.bot().returncode, 2)
        orders, prices, number, key = self.venue
        for arguments, error in (((orders, "snapshots", number, key), "an address is a host and a port: 127.0.0.1:7001\n"),
                                 ((orders, prices, number, key[1:]), "a key has 64 hexadecimal digits\n")):
            ran = self.bot(*arguments, "ESZ6", "5")
            self.assertEqual((ran.returncode, ran.stderr), (2, error))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
