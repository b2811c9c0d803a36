#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accounts, limits and keys that change while a venue runs: by SIGHUP, in one process, in partitions and in roles; and what
a start finds after a kill, with the file of before and with that of after.

usage: accounts_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from running_exchange import CORRO, SOURCE, TIME_LIMIT_S, Exchange, change_text, free_ports, run

NEW_KEY = "9e" * 32
NEW_ACCOUNT = f'\n[[account]]\nid = 9\nname = "newcomer"\nkey = "{NEW_KEY}"\nsessions = 2\norder_quantity_max = 1000\n'


class Running(Exchange):
    """`corro serve` with a configuration that is there already; the lines up to the end of its start are kept."""

    def __init__(self, config, *options):
        self.config, self.options = config, options

    def __enter__(self):
        super().__enter__()
        return self

    def hangup(self, text):
        self.process.send_signal(signal.SIGHUP)
        return self.read_until(text)

    def kill(self):
        self.process.kill()
        self.process.wait()


def hashes(words):
    return re.findall(r"state hash (\w+)", words)


class Accounts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def configuration(self, source):
        """A demonstration's configuration on free ports that stay, with a journal and room for sessions."""
        with open(os.path.join(SOURCE, "config", source), encoding="utf-8") as file:
            text = file.read()
        addresses = sorted(set(re.findall(r"127\.0\.0\.1:\d+", text)))
        for address, port in zip(addresses, free_ports(len(addresses))):
            text = text.replace(f'"{address}"', f'"127.0.0.1:{port}"')
        text = text.replace("[venue]\n", "[venue]\nsessions_reserved = 4\n")
        path = os.path.join(self.folder, "corro.toml")
        text = re.sub(r'\njournal = "[^"]*"', "", text)
        journal = f'journal = "{self.folder}/journal"\n'
        text = text.replace("[facility]\n", "[facility]\n" + journal) if "[facility]\n" in text else text + "\n[facility]\n" + journal
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o600)
        return path

    def only_newcomer(self, config):
        """The configuration of a client that has the new account alone."""
        with open(config, encoding="utf-8") as file:
            text = file.read()
        path = os.path.join(self.folder, "newcomer.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"\n\[\[(?:account|fix_session)\]\]\n(?:(?!\n\[).)*", "\n", text, flags=re.DOTALL) + NEW_ACCOUNT)
        return path

    def load(self, config, venue):
        return run("load", "--config", config, "--venue", venue, "--clients", "2", "--messages", "400")

    def start_words(self, config, *options):
        """Starts the venue and returns its output."""
        process = subprocess.Popen([CORRO, "serve", "--config", config, *options], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "Ctrl-C closes it" in line:
                break
        return process, "".join(lines)

    def end(self, process, how=signal.SIGKILL):
        process.send_signal(how)
        process.wait(timeout=TIME_LIMIT_S)
        process.stdout.close()

    def check_venue(self, source, *options):
        config = self.configuration(source)
        newcomer = self.only_newcomer(config)
        old = os.path.join(self.folder, "old.toml")
        shutil.copy(config, old)
        with Running(config, *options) as exchange:
            venue = exchange.addresses["order entry"]
            self.assertIn("logon failed", self.load(newcomer, venue).stderr)
            with open(config, "a", encoding="utf-8") as file:
                file.write(NEW_ACCOUNT)
            exchange.hangup("1 accounts are new, 1 have changed limits")
            loaded = self.load(newcomer, venue)
            self.assertEqual(loaded.returncode, 0, loaded.stderr)
            exchange.hangup("0 accounts are new, 0 have changed limits")
            change_text(config, ("order_quantity_max = 1000", "order_quantity_max = 1"))
            exchange.hangup("0 accounts are new, 1 have changed limits")
            exchange.kill()
        # The old file: the venue is the same, and no client can log on to the account.
        process, words = self.start_words(old, *options)
        try:
            self.assertIn("account 9 was added while the venue ran, but the configuration does not have it", words)
            before = hashes(words)
            self.assertTrue(before)
            self.assertIn("logon failed", self.load(newcomer, venue).stderr)
        finally:
            self.end(process)
        # That of after, and again that of before: a start has written down by then whose the sessions are.
        for file in (config, old, config):
            process, words = self.start_words(file, *options)
            try:
                self.assertEqual(hashes(words), before)
                self.assertEqual("account 9 was added" in words, file == old, words)
                if file == config:
                    self.assertEqual(self.load(newcomer, venue).returncode, 0)
            finally:
                self.end(process, signal.SIGINT if file == config else signal.SIGKILL)
            if file == config:
                process, words = self.start_words(config, *options)
                before = hashes(words)
                self.end(process)
        # The venue reports limits of the file that the journal does not have, and takes them when the file is read again.
        change_text(config, ("order_quantity_max = 1\n", "order_quantity_max = 7\n"))
        process, words = self.start_words(config, *options)
        try:
            self.assertIn("account 9 has other limits in the journal than in the configuration", words)
        finally:
            self.end(process)
        with Running(config, *options) as exchange:
            # The venue handles signals a little later than its output says.
            self.assertEqual(self.load(newcomer, venue).returncode, 0)
            exchange.hangup("0 accounts are new, 1 have changed limits")
            change_text(config, ('name = "bob"', 'name = "bob"\noperator = true'), (NEW_KEY, "9f" * 32))
            exchange.hangup("the keys stay unchanged: account 2 has other rights or sessions, or another place")
            self.assertEqual(self.load(newcomer, venue).returncode, 0, "nothing of the file is taken")
            change_text(config, ('name = "bob"\noperator = true', 'name = "bob"'), ("sessions_reserved = 4", "sessions_reserved = 5"))
            words = exchange.hangup("the accounts now have the keys of this file")
            self.assertIn("[venue] has changed since the start", words)
            self.assertIn("logon failed", self.load(newcomer, venue).stderr, "but for what waits, all of it is")

    def test_they_come_while_a_venue_runs_and_stay(self):
        self.check_venue("demo.toml")

    def test_they_come_to_a_venue_on_two_threads(self):
        self.check_venue("demo.toml", "--threading", "split")

    def test_they_come_to_every_partition(self):
        self.check_venue("partitions.toml")

    def test_gateways_with_other_keys_or_accounts_lose_their_link(self):
        config = self.configuration("demo.toml")
        with open(config, "a", encoding="utf-8") as file:
            file.write(f'\n[link]\nlisten = "{self.folder}/link"\nsecret = "{"5c" * 32}"\n')
        files = {role: os.path.join(self.folder, role + ".toml") for role in ("facility", "gateway", "old")}
        for path in files.values():
            shutil.copy(config, path)
        newcomer = self.only_newcomer(config)
        said, running = {}, {}

        def words(role):
            with open(said[role], encoding="utf-8") as file:
                return file.read()

        def await_words(role, text, count=1):
            end = time.monotonic() + TIME_LIMIT_S
            while words(role).count(text) < count:
                if running[role].poll() is not None or time.monotonic() > end:
                    raise AssertionError(f"{role} has not said {text!r} {count} times: {words(role)}")
                time.sleep(0.02)

        def start(role):
            said[role] = os.path.join(self.folder, role + ".said")
            with open(said[role], "w", encoding="utf-8") as file:
                running[role] = subprocess.Popen([CORRO, "serve", "--role", role, "--config", files[role]], stdout=file,
                                                 stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            self.addCleanup(running[role].wait)
            self.addCleanup(running[role].kill)

        start("facility")
        await_words("facility", "Ctrl-C closes it")
        start("gateway")
        await_words("gateway", "order entry")
        venue = re.search(r"order entry +(\S+)", words("gateway"))[1]
        with open(config, encoding="utf-8") as file:
            key = re.search(r'name = "alice"\nkey = "(\w+)"', file.read())[1]
        self.assertEqual(self.load(files["old"], venue).returncode, 0)
        # The facility alone has read the new file: the withdrawn key is good nowhere.
        change_text(files["facility"], (key, "5f" * 32))
        running["facility"].send_signal(signal.SIGHUP)
        await_words("facility", 'the link to gateway "" ends: the two ends of the link have different keys for their accounts')
        await_words("gateway", "the facility has refused this gateway: the two ends of the link have different keys for their accounts")
        self.assertNotEqual(self.load(files["old"], venue).returncode, 0)
        # The gateway reads it too and is linked again.
        shutil.copy(files["facility"], files["gateway"])
        running["gateway"].send_signal(signal.SIGHUP)
        await_words("gateway", "order entry", 2)
        self.assertIn("logon failed", self.load(files["old"], venue).stderr)
        self.assertEqual(self.load(files["facility"], venue).returncode, 0)
        # The gateway first: its link stays when only keys differ, and continues when the facility has read the same file.
        change_text(files["gateway"], ("5f" * 32, "5e" * 32))
        running["gateway"].send_signal(signal.SIGHUP)
        await_words("facility", 'gateway "" has read its file again: the two ends of the link have different keys')
        shutil.copy(files["gateway"], files["facility"])
        running["facility"].send_signal(signal.SIGHUP)
        await_words("facility", "the accounts now have the keys of this file", 2)
        self.assertEqual(self.load(files["gateway"], venue).returncode, 0)
        self.assertEqual(words("gateway").count("order entry"), 2)
        # A new account, at the facility first.
        for role in ("facility", "gateway"):
            with open(files[role], "a", encoding="utf-8") as file:
                file.write(NEW_ACCOUNT)
            running[role].send_signal(signal.SIGHUP)
            await_words(role, "1 accounts are new")
        await_words("gateway", "order entry", 3)
        loaded = self.load(newcomer, venue)
        self.assertEqual(loaded.returncode, 0, loaded.stderr)
        # Killed and started with the old accounts and with the new ones.
        running["facility"].kill()
        running["facility"].wait()
        start("facility")
        await_words("facility", "Ctrl-C closes it")
        await_words("gateway", "order entry", 4)
        self.assertEqual(self.load(newcomer, venue).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
