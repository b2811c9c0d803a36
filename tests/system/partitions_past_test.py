#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at a venue of two partitions in which instruments were defined while it ran: its feeds, books at moments, exports.

usage: partitions_past_test.py CORRO SOURCE_FOLDER
"""

import csv
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from running_exchange import CORRO, SOURCE, TIME_LIMIT_S, Exchange, change_text, free_ports, run

EARLIER_ORDERS = 3_000  # enough for an index, whose snapshots are smaller than the commands before them
LATE = "2200-01-01T00:00:00"
EARLY = "2001-01-01T00:00:00"


class Divided(Exchange):
    """config/partitions.toml on free ports."""

    def __init__(self, folder):
        self.config = os.path.join(folder, "corro.toml")
        self.options = ()
        self.journal = os.path.join(folder, "journals")
        shutil.copy(os.path.join(SOURCE, "config", "partitions.toml"), self.config)
        used = ("7001", "7002", "7003", "7004", "7005", "7009")
        changes = [(f":{old}", f":{new}") for old, new in zip(used, free_ports(len(used)))]
        change_text(self.config, *changes, ("/tmp/corro-partitions", self.journal))

    def client(self, account, *lines):
        done = subprocess.run([CORRO, "client", "--config", self.config, "--account", account], text=True,
                              input="\n".join([*lines, "quit"]) + "\n", capture_output=True, timeout=TIME_LIMIT_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def watch(self, name):
        return subprocess.Popen([CORRO, "watch", name, "--config", self.config, "--plain", "--seconds", "1.5"], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def show(self, name, price):
        """Sends an order and asks for its book, until the book shows its price or the time is over."""
        said = os.path.join(os.path.dirname(self.config), "shown.txt")
        end = time.monotonic() + TIME_LIMIT_S
        with open(said, "w", encoding="utf-8") as into, subprocess.Popen(
                [CORRO, "client", name, "--config", self.config, "--account", "alice", "--session", "4", "--plain"],
                text=True, stdin=subprocess.PIPE, stdout=into, stderr=subprocess.STDOUT) as client:
            client.stdin.write(f"buy 1 {name} {price}\n")
            text = ""
            while not re.search(rf"(?m)^{name} .* {re.escape(price)}", text) and time.monotonic() < end:
                client.stdin.write(f"show {name}\n")
                client.stdin.flush()
                time.sleep(0.1)
                with open(said, encoding="utf-8") as file:
                    text = file.read()
            client.communicate("quit\n", timeout=TIME_LIMIT_S)
        return text


class PastOfPartitions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        exchange = Divided(cls.folder.name)
        cls.config, cls.journal = exchange.config, exchange.journal
        with exchange:
            load = run("load", "--config", cls.config, "--clients", "6", "--messages", str(EARLIER_ORDERS))
            assert load.returncode == 0, load.stdout + load.stderr
            exchange.client("control", "define 9 CLH7 like CLG7", "define 10 ESH7 like ESZ6")
            exchange.client("control", "phase continuous CLH7", "phase continuous ESH7")
            watching = {name: exchange.watch(name) for name in ("ESH7", "CLH7", "CLF7", "GONE")}
            cls.shown = exchange.show("CLH7", "60.00")
            exchange.client("alice", "buy 2 CLH7 60", "buy 2 CLH7 59")
            exchange.client("bob", "sell 3 CLH7 60", "buy 4 ESH7 6000", "sell 1 ESH7 6000", "sell 1 CLH7 80",
                            "buy 1 CLF7 55")
            cls.watched = {name: (*each.communicate(timeout=TIME_LIMIT_S), each.returncode)
                           for name, each in watching.items()}
            exchange.close()
        cls.last = {name: int(re.search(r"after command (\d+) at", run(
            "book", "--config", cls.config, "--partition", name, "--at", LATE).stdout)[1]) for name in ("EQUITY", "ENERGY")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ask(self, *arguments):
        done = run(arguments[0], "--config", self.config, *arguments[1:])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def refusal(self, *arguments):
        done = run(arguments[0], "--config", self.config, *arguments[1:])
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def test_a_feed_is_found_that_has_an_instrument_defined_while_the_venue_runs(self):
        for name in ("ESH7", "CLH7", "CLF7"):
            output, errors, code = self.watched[name]
            self.assertEqual(code, 0, output + errors)
            self.assertRegex(output, rf"(?m)^{name} ")
        _, errors, code = self.watched["GONE"]
        self.assertEqual(code, 1)
        self.assertIn('no instrument "GONE"; the venue has: ESZ6, ESH7, CLF7, CLG7, CLF7-CLG7, CLH7', errors)
        self.assertRegex(self.shown, r"(?m)^CLH7 .* 60\.00")

    def test_every_way_to_name_a_journal_gives_the_same_book(self):
        copy = os.path.join(self.folder.name, "renamed")
        shutil.copytree(os.path.join(self.journal, "ENERGY"), copy)
        last = ["--at", str(self.last["ENERGY"]), "--instrument", "CLH7", "--orders", "--explain"]
        text = self.ask("book", "--partition", "ENERGY", *last)
        self.assertRegex(text, r"CLH7   last 60.00 .* volume 3 ")
        self.assertIn(f"after command {self.last['ENERGY']} at ", text)
        for journal in (["--journal", self.journal, "--partition", "ENERGY"],
                        ["--journal", self.journal + "/", "--partition", "ENERGY"],
                        ["--journal", os.path.join(self.journal, "ENERGY")],
                        ["--journal", os.path.join(self.journal, "ENERGY"), "--partition", "ENERGY"],
                        ["--journal", copy, "--partition", "ENERGY"]):
            self.assertEqual(self.ask("book", *journal, *last), text, journal)

    def test_a_book_by_time_comes_from_the_partition_of_the_instrument(self):
        for journal in ([], ["--journal", self.journal]):
            for name, partition, volume in (("CLH7", "ENERGY", "3"), ("ESH7", "EQUITY", "1"), ("CLF7", "ENERGY", r"\d+")):
                late = ["--at", LATE, "--instrument", name]
                text = self.ask("book", *journal, *late)
                self.assertRegex(text, rf"(?m)^{name}   .* volume {volume} ")
                own = self.ask("book", *journal, "--partition", partition, *late)
                self.assertTrue(text.endswith(own), text + own)
                self.assertIn(f'no instrument "{name}"; partition ', self.refusal(
                    "book", *journal, "--partition", "EQUITY" if partition == "ENERGY" else "ENERGY", *late))
            # Before its definition there is no such instrument, in no partition.
            self.assertIn('no instrument "CLH7"; the venue has: ESZ6, CLF7, CLG7, CLF7-CLG7',
                          self.refusal("book", *journal, "--at", EARLY, "--instrument", "CLH7"))

    def test_without_an_instrument_the_books_of_all_partitions_are_printed(self):
        text = self.ask("book", "--journal", self.journal, "--at", LATE, "--explain")
        self.assertRegex(text, r"(?s)^partition EQUITY: after command \d+ .*\nESZ6 .*\nESH7 .*"
                               r"\npartition ENERGY: after command \d+ .*\nCLF7 .*\nCLG7 .*\nCLF7-CLG7 .*\nCLH7 ")
        self.assertEqual(text, self.ask("book", "--at", LATE, "--explain"))
        self.assertEqual(self.ask("book", "--at", EARLY).count("before the first command"), 2)

    def test_a_sequence_number_is_one_partitions(self):
        # A configured instrument chooses its partition.
        self.assertIn("\nCLF7 ", self.ask("book", "--at", "3", "--instrument", "CLF7"))
        for more in ([], ["--instrument", "CLH7"]):
            self.assertIn("--at 3: each partition counts its own commands; choose one with --partition: EQUITY, ENERGY",
                          self.refusal("book", "--at", "3", *more))
        for name, symbol in (("EQUITY", "ESH7"), ("ENERGY", "CLH7")):
            dump = run("journal", "dump", os.path.join(self.journal, name)).stdout
            defined = int(re.search(rf"(?m)^(\d+) .* name={symbol} ", dump)[1])
            self.assertNotIn(f"\n{symbol} ", self.ask("book", "--partition", name, "--at", str(defined - 1)))
            self.assertIn(f"\n{symbol} ", self.ask("book", "--partition", name, "--at", str(defined)))
        beyond = str(self.last["EQUITY"] + 1)
        self.assertIn("ends with sequence number", self.refusal("book", "--partition", "EQUITY", "--at", beyond))

    def test_exports_have_what_happened_to_instruments_defined_while_the_venue_ran(self):
        target = os.path.join(self.folder.name, "csv")
        self.ask("export", "--journal", self.journal, target)
        self.assertEqual(sorted(os.listdir(target)), ["ENERGY", "EQUITY"])
        rows = {}
        for partition in ("EQUITY", "ENERGY"):
            with open(os.path.join(target, partition, "trades.csv"), encoding="utf-8") as file:
                rows[partition] = [(row["instrument"], row["price"], row["quantity"]) for row in csv.DictReader(file)]
        defined = {name: [row for row in rows[name] if row[0] in ("CLH7", "ESH7")] for name in rows}
        self.assertEqual(defined, {"EQUITY": [("ESH7", "6000.00", "1")], "ENERGY": [("CLH7", "60.00", "1"), ("CLH7", "60.00", "2")]})
        for journal in (["--journal", self.journal], ["--partition", "ENERGY"],
                        ["--journal", os.path.join(self.journal, "ENERGY"), "--from", "7", "--to", str(self.last["ENERGY"])]):
            one = tempfile.mkdtemp(dir=self.folder.name)
            self.ask("export", *journal, "--instrument", "CLH7", "--trades", one)
            with open(os.path.join(one, "trades.csv"), encoding="utf-8") as file, \
                    open(os.path.join(target, "ENERGY", "trades.csv"), encoding="utf-8") as all_of_them:
                self.assertEqual(file.readlines(), [line for line in all_of_them if "CLF7" not in line and "CLG7" not in line])
        files = os.path.join(self.folder.name, "lobster")
        self.ask("export", files, "--format", "lobster", "--instrument", "ESH7")
        self.assertEqual([re.sub("_.*_", " ", name) for name in sorted(os.listdir(files))], ["ESH7 10.csv", "ESH7 10.csv"])
        for limit in (["--from", "2"], ["--to", "2"]):
            self.assertIn("choose one with --partition", self.refusal("export", *limit, target))
        self.assertIn('no instrument "GONE"; the venue has: ESZ6, ESH7, CLF7', self.refusal(
            "export", target, "--instrument", "GONE"))

    def test_an_index_of_each_partition_gives_the_same_books(self):
        copy = os.path.join(self.folder.name, "indexed")
        shutil.copytree(self.journal, copy, ignore=shutil.ignore_patterns("*.snapshot"))
        # The last command, which follows the definition, has a snapshot.
        done = run("journal", "index", "--config", self.config, "--journal", copy, "--every", str(self.last["ENERGY"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^partition EQUITY: .*\npartition ENERGY: 1 snapshots written, ")
        quick = ["book", "--journal", copy, "--partition", "ENERGY", "--at", str(self.last["ENERGY"]), "--orders", "--explain"]
        self.assertEqual(self.ask(*quick), self.ask(*quick, "--no-index"))
        self.assertRegex(run(*quick, "--config", self.config).stderr, rf"snapshot after command {self.last['ENERGY']}, ")


    def test_a_folder_without_a_journal_is_refused(self):
        empty = os.path.join(self.folder.name, "empty")
        os.mkdir(empty)
        os.mkdir(os.path.join(empty, "ENERGY"))
        self.assertIn("holds no journal", self.refusal("book", "--journal", empty, "--partition", "ENERGY", "--at",
                                                          LATE))
        self.assertIn('no partition "POWER"; choose one with --partition: EQUITY, ENERGY',
                      self.refusal("book", "--partition", "POWER", "--at", "1"))


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=2)
