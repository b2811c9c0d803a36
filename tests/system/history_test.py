#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks `corro` about the past of a journal: books at moments, files of what happened, and the errors.

usage: history_test.py CORRO SOURCE_FOLDER
"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CORRO, SOURCE = sys.argv[1:3]
TIME_LIMIT_S = 120  # generous: only a program that hangs gets here
COMMANDS = 40_000


def run(*arguments):
    return subprocess.run([CORRO, *arguments], capture_output=True, text=True, timeout=TIME_LIMIT_S,
                          stdin=subprocess.DEVNULL)


class History(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.journal = os.path.join(cls.folder.name, "journal")
        with open(os.path.join(SOURCE, "config", "demo.toml"), encoding="utf-8") as file:
            text = file.read().replace("orders_max = 1_000_000", "orders_max = 50_000")
        cls.config = os.path.join(cls.folder.name, "corro.toml")
        with open(cls.config, "w", encoding="utf-8") as file:
            file.write(text)
        cls.other_config = os.path.join(cls.folder.name, "other.toml")
        with open(cls.other_config, "w", encoding="utf-8") as file:
            file.write(text.replace('name = "CORRO"', 'name = "OTHER"'))
        subprocess.run([CORRO, "generate", "--config", cls.config, cls.journal, "--commands", str(COMMANDS), "--seed", "7"], check=True, timeout=TIME_LIMIT_S)
        cls.past = ["--config", cls.config, "--journal", cls.journal]
        made = run("journal", "index", *cls.past, "--every", "10000")
        assert made.returncode == 0, made.stdout + made.stderr
        assert re.match(rf"\d+ snapshots written, .* up to command \d+ of {COMMANDS}\n", made.stdout), made.stdout

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def book(self, at, *more):
        result = run("book", *self.past, "--at", str(at), *more)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def test_every_book_from_the_index_is_the_one_of_a_full_replay(self):
        for at in (1, 9_999, 10_000, 10_001, 17_777, COMMANDS, "2026-01-05T09:00:30", "2026-01-05T09:01:00.123456789Z"):
            quick = self.book(at, "--explain", "--orders")
            slow = self.book(at, "--explain", "--orders", "--no-index")
            self.assertEqual(quick.stdout, slow.stdout)
            self.assertIn("snapshot after command 0,", slow.stderr)
        self.assertIn("snapshot after command 30000, 9999 commands", self.book(39_999, "--explain").stderr)

    def test_a_folder_with_configuration_and_journal_is_read_from_anywhere(self):
        known = self.book("end").stdout
        for name in ("one", 'a "quoted" name'):
            folder = os.path.join(self.folder.name, name)
            shutil.copytree(self.journal, os.path.join(folder, "journal"))
            with open(self.config, encoding="utf-8") as file:
                text = file.read()
            with open(os.path.join(folder, "venue.toml"), "w", encoding="utf-8") as file:
                file.write(text + '\n[facility]\njournal = "journal"\n')
        other = os.path.join(self.folder.name, "one")
        for name in ("one", 'a "quoted" name'):
            config = os.path.join(self.folder.name, name, "venue.toml")
            asked = [CORRO, "book", "--config", config, "--at", "end"]
            for where in ("/", os.path.dirname(config)):
                self.assertEqual(subprocess.run(asked, cwd=where, capture_output=True, text=True, timeout=TIME_LIMIT_S).stdout, known)
        # Two journals of one relative name: the program does not choose.
        refused = subprocess.run(asked, cwd=other, capture_output=True, text=True, timeout=TIME_LIMIT_S)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("there is a journal in journal of the working directory and another one beside this file", refused.stderr)
        chosen = subprocess.run([*asked, "--journal", "journal"], cwd=other, capture_output=True, text=True, timeout=TIME_LIMIT_S)
        self.assertEqual(chosen.stdout, known)

    def test_the_end_is_the_last_command(self):
        self.assertEqual(self.book("end", "--orders").stdout, self.book(COMMANDS, "--orders").stdout)

    def test_a_time_is_the_last_command_that_is_not_later(self):
        by_number = self.book(20_000)
        time = re.match(r"after command 20000 at (\S+),", by_number.stdout)[1]
        self.assertEqual(self.book(time).stdout, by_number.stdout)
        early = self.book("2026-01-05T08:59:59")
        self.assertTrue(early.stdout.startswith("before the first command\n"))

    def test_levels_and_trades_exported_add_up_to_the_book(self):
        target = os.path.join(self.folder.name, "csv")
        result = run("export", *self.past, target, "--instrument", "CLF7", "--to", "25000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("lines about commands 1 to 25000", result.stdout)
        levels, volume = {}, 0
        with open(os.path.join(target, "levels.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                levels[row["side"], float(row["price"])] = (row["quantity"], row["orders"])
        with open(os.path.join(target, "trades.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                self.assertEqual(row["instrument"], "CLF7")
                volume += int(row["quantity"])
        self.assertGreater(volume, 0)
        text = self.book(25_000, "--instrument", "CLF7", "--depth", "1000000").stdout
        self.assertIn(f"volume {volume} ", text)
        shown = {}
        for line in text.splitlines()[4:]:
            left, right = (part.split() for part in line.split("|"))
            if left:
                shown["buy", float(left[2])] = (left[1], left[0])
            if right:
                shown["sell", float(right[0])] = (right[1], right[2])
        self.assertEqual(shown, {key: value for key, value in levels.items() if value[0] != "0"})
        with open(os.path.join(target, "orders.csv"), encoding="utf-8") as file:
            kinds = {row["event"] for row in csv.DictReader(file)}
        self.assertEqual(kinds, {"accepted", "entered", "amended", "cancelled", "executed", "rejected"})

    def test_an_export_of_the_end_begins_with_the_book_at_that_time(self):
        whole = os.path.join(self.folder.name, "whole")
        part = os.path.join(self.folder.name, "part")
        for target, more in ((whole, []), (part, ["--from", "39001"])):
            result = run("export", *self.past, target, "--format", "lobster", "--depth", "5", *more)
            self.assertEqual(result.returncode, 0, result.stderr)
        names = sorted(os.listdir(whole))
        self.assertEqual(names, sorted(os.listdir(part)))
        self.assertIn("CLF7_2026-01-05_0_86400000_message_5.csv", names)
        for name in names:
            with open(os.path.join(whole, name), encoding="utf-8") as file:
                all_lines = file.readlines()
            with open(os.path.join(part, name), encoding="utf-8") as file:
                last_lines = file.readlines()
            self.assertGreater(len(last_lines), 0)
            self.assertLess(len(last_lines), len(all_lines))
            self.assertEqual(all_lines[-len(last_lines):], last_lines, name)

    def fails(self, expected, *arguments):
        result = run(*arguments)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(expected, result.stderr + result.stdout)

    def test_says_what_is_wrong(self):
        self.fails(f"the journal ends with sequence number {COMMANDS}; expected {COMMANDS + 1}", "book", *self.past,
                   "--at", str(COMMANDS + 1))
        self.fails('--at: "yesterday": expected a sequence number, or a time', "book", *self.past, "--at", "yesterday")
        self.fails('no instrument "XYZ"; the venue has: ESZ6, CLF7', "book", *self.past, "--at", "1", "--instrument",
                   "XYZ")
        self.fails('expected venue "OTHER"', "book", "--config", self.other_config, "--journal", self.journal, "--at",
                   "1")
        self.fails("with the configuration that wrote it", "book", "--config", self.other_config, "--journal",
                   self.journal, "--at", "1")
        self.fails("--from 10 is later than --to 5", "export", *self.past, os.path.join(self.folder.name, "x"), "--from",
                   "10", "--to", "5")
        self.fails("is this the directory of a journal?", "journal", "verify", self.folder.name)
        self.fails("leave out --orders", "export", *self.past, os.path.join(self.folder.name, "x"), "--format",
                   "lobster", "--orders")
        self.fails("there is no directory", "book", "--config", self.config, "--journal",
                   os.path.join(self.folder.name, "nowhere"), "--at", "1")

    def test_help_names_every_option(self):
        for command, options in ((["book"], ["--at", "--instrument", "--depth", "--orders", "--no-index"]),
                                 (["export"], ["--orders", "--trades", "--levels", "--format", "--from", "--to"]),
                                 (["journal", "index"], ["--every"])):
            text = run(*command, "--help").stdout
            for option in ["--config", "--journal", *options]:
                self.assertIn(option, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
