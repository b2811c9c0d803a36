#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python scripts of docs/howto/connect_by_fix.md, run as they are printed.

usage: connect_by_fix_test.py CORRO SOURCE_FOLDER

The script with simplefix is left out where that package is not installed.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(sys.argv[2], "tests", "system"))

from running_exchange import SOURCE, TIME_LIMIT_S, Exchange  # noqa: E402


def script(section):
    with open(os.path.join(SOURCE, "docs", "howto", "connect_by_fix.md"), encoding="utf-8") as file:
        text = file.read().split(f"\n## {section}\n")[1].split("\n## ")[0]
    [code] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return code


class ConnectByFix(unittest.TestCase):
    def run_script(self, section):
        code = script(section)
        self.assertEqual(code.count("7010"), 1)
        with tempfile.TemporaryDirectory() as folder, Exchange(folder) as exchange:
            code = code.replace("7010", exchange.addresses["FIX"].rsplit(":", 1)[1])
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=TIME_LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        logon, report, logout = done.stdout.splitlines()
        self.assertIn("|35=A|34=1|", logon)
        self.assertIn("|35=8|34=2|", report)
        for field in ("55=ESZ6", "54=1", "38=2", "44=5900", "150=0", "39=0", "151=2"):
            self.assertIn(f"|{field}|", report)
        self.assertIn("|35=5|34=3|", logout)

    def test_python_without_packages(self):
        self.run_script("Python, without packages")

    @unittest.skipUnless(importlib.util.find_spec("simplefix"), "the Python package simplefix is not installed")
    def test_python_with_simplefix(self):
        self.run_script("Python, with simplefix")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
