#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bots of docs/howto/write_a_bot.md, as printed, against the demonstration.

usage: write_a_bot_test.py CORRO SOURCE_FOLDER
"""

import fcntl
import glob
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from running_exchange import CORRO, SOURCE, TIME_LIMIT_S, demo_configuration

SECONDS = "6"


class Bot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(SOURCE, "docs", "howto", "write_a_bot.md"), encoding="utf-8") as file:
            self.page = file.read()

    def block(self, kind):
        return re.search(rf"^```{kind}\n(.*?)^```", self.page, re.MULTILINE | re.DOTALL)[1]

    def test_trades_as_printed_and_leaves_no_order(self):
        self.trade("python", "python3", sys.executable, "bot.py")

    @unittest.skipIf(shutil.which("node") is None, "node is not installed (package nodejs)")
    def test_trades_in_javascript_too(self):
        self.trade("js", "node", "node", "bot.mjs")

    def trade(self, kind, word, program, name):
        bot = self.block(kind)
        self.assertLessEqual(len(bot.splitlines()), 40)
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(bot)
        command = shlex.split(self.block(f"run(?=\n{word} )"))
        self.assertEqual(command[:2], [word, name])
        # What a demonstration that was killed has left, and the folder of one that lives.
        killed, living = (os.path.join(self.folder, f"corro-demo-{kind}") for kind in ("killed", "living"))
        for each in killed, living:
            os.mkdir(each)
            pathlib.Path(each, "segment").touch()
            os.utime(each, (0, 0))
        lock = os.open(living, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen([CORRO, "demo", "--config", demo_configuration(self.folder, api_keys=True), "--plain"], stdout=subprocess.PIPE,
                              text=True, stdin=subprocess.DEVNULL, env={**os.environ, "TMPDIR": self.folder}) as demo:
            url, secrets = None, {}
            for line in demo.stdout:
                if found := re.match(r"API +ws://([\d.:]+)/", line):
                    url = f"http://{found[1]}/api/v2"
                if found := re.match(r"log on as .*\((\w+)\).* key (\w+)", line):
                    secrets[found[1]] = found[2]
                if "messages/s" in line:
                    break
            self.assertEqual(secrets["alice"], command[4], "the page has the demonstration's key")
            done = subprocess.run([program, name, url, *command[3:6], SECONDS], cwd=self.folder, capture_output=True,
                                  text=True, timeout=TIME_LIMIT_S, check=False)
            with urllib.request.urlopen(url.replace("/api/v2", "/api/v1/trades?instrument=ESZ6&limit=5"), timeout=TIME_LIMIT_S) as past:
                # The trades of one command stay together.
                self.assertGreaterEqual(len(json.load(past)), 5, "the demonstration has a past")
            folders = glob.glob(os.path.join(self.folder, "corro-demo-*"))
            self.assertFalse(os.path.exists(killed))
            folders.remove(living)
            self.assertEqual(len(folders), 1)
            demo.terminate()
            demo.communicate(timeout=TIME_LIMIT_S)
            self.assertFalse(os.path.exists(folders[0]))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^(buy|sell) 1 at [\d.]+$")
        self.assertRegex(done.stdout, r"(?m)^cancelled \d+$")
        trades = re.findall(r"(?m)^(buy|sell) (\d+) at", done.stdout)
        position = int(re.search(r"(?m)^position (-?\d+)$", done.stdout)[1])
        known = sum(int(amount) if side == "buy" else -int(amount) for side, amount in trades)
        self.assertLessEqual(abs(position - known), 2, done.stdout)  # a trade between the last look and the end


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
