#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rehearses the operator's page, docs/howto/operate.md: start, watch, back up, restore, upgrade, roll back, retention.

usage: operate_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from running_exchange import CORRO, SOURCE, TIME_LIMIT_S, example_configuration, free_ports, run

PORTS = ("7001", "7002", "7003", "7010", "7011", "7020")


class Operate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.journal = f"{self.folder}/journal"
        self.config = f"{self.folder}/venue.toml"
        # An upgrade replaces the program at this place.
        self.program = f"{self.folder}/corro"
        os.symlink(CORRO, self.program)
        *ports, self.metrics = free_ports(7)
        text = example_configuration("demo.toml")
        for old, new in zip(PORTS, ports):
            text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
        # The API logs on too; without it, `corro load` has all sessions.
        text, removed = re.subn(r"^\[api\]\n.+\n", "", text, flags=re.MULTILINE)
        self.assertEqual(removed, 1)
        text += (f'\n[metrics]\nlisten = "127.0.0.1:{self.metrics}"\n\n[facility]\njournal = "{self.journal}"\n'
                 "journal_segment_bytes = 65_536\njournal_segments_kept = 2\nsnapshots_kept = 2\n")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)
        self.process = None

    def start(self):
        self.process = subprocess.Popen([self.program, "serve", "--config", self.config], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        for line in self.process.stdout:
            if "Ctrl-C" in line:
                return
        self.fail("corro serve ended early")

    def stop(self):
        """As systemd does it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual(self.process.returncode, 0)

    def page(self, name):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/{name}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def metric(self, name):
        status, text = self.page("metrics")
        self.assertEqual(status, 200)
        return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])

    def load(self, messages):
        done = run("load", "--config", self.config, "--clients", "4", "--messages", str(messages))
        self.assertEqual(done.returncode, 0, done.stderr)
        # The end of each connection is in the journal when the venue has seen it; else the next start puts it there.
        deadline = time.monotonic() + TIME_LIMIT_S
        while self.metric("corro_sessions") != 0:
            self.assertLess(time.monotonic(), deadline, "the clients of `corro load` are still logged on")
            time.sleep(0.01)

    def next_command(self, directory):
        sound = run("journal", "verify", directory)
        self.assertEqual(sound.returncode, 0, sound.stdout + sound.stderr)
        return int(re.search(r"next sequence number (\d+)", sound.stdout)[1])

    def test_watch_back_up_and_restore(self):
        self.start()
        self.assertEqual(self.page("ready")[0], 200)
        self.assertEqual(self.metric("corro_journal_up"), 1)
        self.load(3_000)
        durable = self.metric("corro_journal_durable_command")
        made = run("journal", "backup", self.config, f"{self.folder}/monday")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(self.next_command(f"{self.folder}/monday"), durable + 1)
        self.load(1_000)  # what the copy does not have
        self.process.kill()  # the machine is lost, and its disk
        self.process.communicate()
        shutil.rmtree(self.journal)
        shutil.move(f"{self.folder}/monday", self.journal)
        self.start()
        self.assertEqual(self.metric("corro_journal_durable_command"), durable)
        self.load(1_000)
        self.stop()
        self.assertGreater(self.next_command(self.journal), durable + 1_000)

    def test_upgrade_and_roll_back(self):
        self.start()
        self.load(2_000)
        self.stop()
        before = self.next_command(self.journal)
        # The copy is the way back.
        made = run("journal", "backup", self.config, f"{self.folder}/before_upgrade")
        self.assertEqual(made.returncode, 0, made.stderr)
        shutil.copy(CORRO, f"{self.folder}/corro.new")
        os.rename(f"{self.folder}/corro.new", self.program)
        self.start()
        self.assertEqual(self.metric("corro_journal_durable_command"), before - 1)
        self.load(2_000)
        self.stop()
        self.assertGreater(self.next_command(self.journal), before)
        os.remove(self.program)
        os.symlink(CORRO, self.program)
        os.rename(self.journal, f"{self.folder}/abandoned")
        shutil.copytree(f"{self.folder}/before_upgrade", self.journal)
        self.start()
        self.assertEqual(self.metric("corro_journal_durable_command"), before - 1)
        self.load(500)
        self.stop()
        # Neither the copy nor what was abandoned has changed.
        self.assertEqual(self.next_command(f"{self.folder}/before_upgrade"), before)
        self.assertGreater(self.next_command(f"{self.folder}/abandoned"), before)

    def test_the_disk_of_a_former_version_starts(self):
        former = os.path.join(SOURCE, "tests/golden/files/venue.v1")
        os.makedirs(self.journal, mode=0o700)
        with open(os.path.join(former, "sizes.txt"), encoding="utf-8") as sizes:
            for size, name in (line.split() for line in sizes):
                shutil.copyfile(os.path.join(former, "disk", name), f"{self.journal}/{name}")
                os.truncate(f"{self.journal}/{name}", int(size))  # kept there without the zeros at their ends
        with open(os.path.join(former, "config.toml"), encoding="utf-8") as file:
            text = file.read().replace("/var/corro/journal", self.journal)
        for old, new in zip(PORTS, free_ports(3)):
            text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text + f'\n[metrics]\nlisten = "127.0.0.1:{self.metrics}"\n')
        before = self.next_command(self.journal)
        self.start()
        self.assertEqual(self.metric("corro_journal_durable_command"), before - 1)
        self.load(200)
        self.stop()
        self.assertGreater(self.next_command(self.journal), before)

    def test_retention_keeps_what_the_oldest_snapshot_needs(self):
        self.start()
        for _ in range(4):
            self.load(2_000)
            snapshot = self.metric("corro_snapshot_command")
            self.process.send_signal(signal.SIGUSR2)
            deadline = time.monotonic() + TIME_LIMIT_S
            while self.metric("corro_snapshot_command") == snapshot and time.monotonic() < deadline:
                time.sleep(0.05)
        self.load(200)  # segments go at the next write
        self.stop()
        names = os.listdir(self.journal)
        segments = sorted(name for name in names if name.endswith(".segment"))
        snapshots = [name for name in names if name.endswith(".snapshot")]
        self.assertEqual(len(snapshots), 2, names)
        self.assertNotIn("1.segment", [segment.lstrip("0") for segment in segments])
        self.next_command(self.journal)
        self.start()
        self.load(200)
        self.stop()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(argv=[__file__], verbosity=2)
