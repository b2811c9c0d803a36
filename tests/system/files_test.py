#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""S9: access rights of the files with keys, and of those that the venue writes.

usage: files_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, Exchange, change_text, demo_configuration, run


def exchange_with(config, *options):
    """`corro serve` with a configuration that is there already."""
    exchange = Exchange.__new__(Exchange)
    exchange.config, exchange.options = config, options
    return exchange


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.umask = os.umask(0)
        self.addCleanup(os.umask, self.umask)

    def more(self):
        return (f'\n[facility]\njournal = "{self.folder}/made/journal"\n'
                f'[event_log]\ndirectory = "{self.folder}/made/log"\n')

    def test_what_the_venue_writes_is_not_for_others_whatever_the_umask(self):
        config = demo_configuration(self.folder, self.more())
        os.chmod(config, 0o644)
        os.umask(0)
        with exchange_with(config) as exchange:
            loaded = run("load", "--config", config, "--venue", exchange.addresses["order entry"], "--clients", "2",
                         "--messages", "2000")
            self.assertEqual(loaded.returncode, 0, loaded.stderr)
            exchange.close()
        seen = set()
        for path, folders, files in os.walk(os.path.join(self.folder, "made")):
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & ~0o750, 0, path)
            for name in files:
                self.assertEqual(stat.S_IMODE(os.stat(os.path.join(path, name)).st_mode) & ~0o640, 0, name)
                seen.add(os.path.splitext(name)[1])
        self.assertLessEqual({".snapshot", ".csv", ".jsonl"}, seen)

    def serve(self, config, *options):
        return subprocess.run(["timeout", "--signal=INT", "5", CORRO, "serve", "--config", config, *options],
                              capture_output=True, text=True, timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL)

    def test_a_configuration_that_others_may_read_or_change_is_refused_or_warned_about(self):
        config = demo_configuration(self.folder)
        change_text(config, ('keys = "public"', 'keys = "secret"'))
        for rights, sentence in ((0o644, "other users may read the keys"), (0o660, "other users may change this file")):
            os.chmod(config, rights)
            refused = self.serve(config)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn(sentence, refused.stderr)
            self.assertIn("--open-files warn", refused.stderr)
        with exchange_with(config, "--open-files", "warn") as exchange:
            self.assertTrue(exchange.addresses)
        os.chmod(config, 0o640)
        with exchange_with(config) as exchange:
            self.assertTrue(exchange.addresses)

    def test_keys_are_read_again_without_a_restart(self):
        config = demo_configuration(self.folder)
        os.chmod(config, 0o644)
        with open(config, encoding="utf-8") as file:
            key = re.search(r'name = "alice"\nkey = "(\w+)"', file.read())[1]
        other = os.path.join(self.folder, "other.toml")
        shutil.copy(config, other)
        change_text(other, (key, "5f" * 32))

        def load(file, venue):
            return run("load", "--config", file, "--venue", venue, "--clients", "2", "--messages", "200")

        with exchange_with(config) as exchange:
            venue = exchange.addresses["order entry"]
            self.assertEqual(load(config, venue).returncode, 0)
            self.assertIn("logon failed", load(other, venue).stderr)
            old = os.path.join(self.folder, "old.toml")
            shutil.copy(config, old)
            change_text(config, (f'key = "{key}"', f'keys = ["{"5f" * 32}", "{key}"]'))
            exchange.process.send_signal(signal.SIGHUP)
            exchange.read_until("the accounts now have the keys of this file")
            for file in (old, other):
                self.assertEqual(load(file, venue).returncode, 0, "both keys are good")
            change_text(config, (f', "{key}"]', "]"))
            exchange.process.send_signal(signal.SIGHUP)
            exchange.read_until("the accounts now have the keys of this file")
            self.assertIn("logon failed", load(old, venue).stderr)
            self.assertEqual(load(other, venue).returncode, 0)
            change_text(config, ("sessions = 2000", "sessions = 1000"))
            exchange.process.send_signal(signal.SIGHUP)
            exchange.read_until("the keys stay unchanged: account 4 has other rights or sessions")
            self.assertEqual(load(other, venue).returncode, 0, "and the venue goes on")

    def test_a_public_file_with_a_links_secret_is_not_public(self):
        config = demo_configuration(self.folder, '\n[link]\nlisten = "@corro-files-test"\nsecret = "' + "5c" * 32 + '"\n')
        os.chmod(config, 0o644)
        refused = self.serve(config)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("other users may read the keys", refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
