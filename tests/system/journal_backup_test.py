#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""D10: `corro journal backup` copies the journals of a running venue, and its output.

usage: journal_backup_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, Exchange, change_text, run


class Backup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.journal = f"{self.folder}/journal"
        self.more = f'\n[facility]\njournal = "{self.journal}"\njournal_segment_bytes = 262_144\n'

    def assert_refused(self, sentence, *arguments):
        refused = run("journal", "backup", *arguments)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn(sentence, refused.stderr)

    def load(self, exchange, messages):
        return subprocess.Popen([CORRO, "load", "--config", exchange.config, "--venue", exchange.addresses["order entry"],
                                 "--clients", "4", "--messages", str(messages)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)

    def test_a_copy_of_a_venue_at_work_is_sound_and_starts(self):
        copy = f"{self.folder}/copy"
        with Exchange(self.folder, more=self.more) as exchange:
            load = self.load(exchange, 40_000)
            made = run("journal", "backup", exchange.config, copy)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual(load.wait(timeout=TIME_LIMIT_S), 0, load.stderr.read())
            load.stderr.close()
            exchange.close()
        self.assertRegex(made.stdout.splitlines()[-1],
                         rf"^{copy}: a copy of {self.journal} with everything acknowledged until \S+Z; \d+\.\d MiB$")
        last = int(re.match(r"commands up to (\d+) in \d+ segments", made.stdout)[1])
        sound = run("journal", "verify", copy)
        self.assertEqual(sound.returncode, 0, sound.stderr)
        self.assertIn(f"next sequence number {last + 1}; closed", sound.stdout)
        self.assertFalse(os.path.exists(copy + ".unfinished"))
        for path, _, files in os.walk(copy):
            for file in files:
                self.assertEqual(os.stat(os.path.join(path, file)).st_mode & 0o027, 0, "not for others")
        # In the place of the original.
        shutil.rmtree(self.journal)
        shutil.move(copy, self.journal)
        with Exchange(self.folder, more=self.more) as exchange:
            load = self.load(exchange, 400)
            self.assertEqual(load.wait(timeout=TIME_LIMIT_S), 0, load.stderr.read())
            load.stderr.close()
            exchange.close()

    def test_what_cannot_be_copied_is_said(self):
        with Exchange(self.folder, more=self.more) as exchange:
            os.mkdir(f"{self.folder}/used")
            self.assert_refused(f"{self.folder}/used: this path exists already", exchange.config, f"{self.folder}/used")
            self.assert_refused("there is no journal", f"{self.folder}/used", f"{self.folder}/copy")
            self.assert_refused("cannot be in it", self.journal, f"{self.journal}/copy")
            self.assert_refused("cannot be read", f"{self.folder}/nowhere", f"{self.folder}/copy")
            self.assert_refused("cannot be read: Not a directory", self.journal, f"{exchange.config}/copy")
            change_text(exchange.config, ("\njournal = ", "\n#journal = "))
            self.assert_refused("has no journal", exchange.config, f"{self.folder}/copy")
            exchange.close()
        self.assertEqual(sorted(os.listdir(f"{self.folder}")), ["corro.toml", "journal", "used"])

    def test_a_full_disk_leaves_nothing(self):
        small = f"{self.folder}/small"
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", small], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(lambda: subprocess.run(["umount", small], check=True))
        with Exchange(self.folder, more=self.more) as exchange:
            load = self.load(exchange, 8_000)
            self.assertEqual(load.wait(timeout=TIME_LIMIT_S), 0, load.stderr.read())
            load.stderr.close()
            self.assert_refused("No space left on device", self.journal, f"{small}/copy")
            exchange.close()
        self.assertEqual(os.listdir(small), [])


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(argv=[__file__], verbosity=2)
