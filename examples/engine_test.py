#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds examples/engine.cpp as an outside program would and runs it.

    engine_test.py COMPILER

The command is the one of docs/howto/drive_the_engine.md: an include path and three small sources, no library. Every
examples/engine_sessions/NAME.txt must give exactly NAME.out, and lines that make no sense must be refused by number.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ["examples/engine.cpp", "src/base/assert.cpp", "src/base/raw_array.cpp", "src/domain/reject_reason.cpp"]

WRONG = {
    "buy a 0 0 5 at 100": "'buy' is not an operation",
    "enter a 0 0 buy 0 at 100": "quantity must be a number from 1",
    "enter a 0 0 buy 5x at 100": "not '5x'",
    "enter a 7 0 buy 5 at 100": "book must be a number from 0 to 0",
    "enter a 0 0 buys 5 at 100": "expected 'sell', not 'buys'",
    "enter a 0 0 buy 5 at": "expected price, the line ends",
    "enter a 0 0 buy 5 at 100 soon": "'soon' is too much or not known here",
    "enter a 0 0 buy 5 at 4000000001": "price must be a number",
    "enter a 0 0 buy 5 market post-only": "never rests",
    "cancel nobody": "no order has been named 'nobody'",
    "reduce nobody to 1": "no order has been named 'nobody'",
    "wait a 0 0 buy 5 rising 10 at 9": "expected 'then'",
    "cancel-account 0 book": "expected book, the line ends",
    "book 0\nengine books 2": "before every operation",
    "enter a 0 0 buy 5 at 1\nenter a 0 0 buy 5 at 1": "name of an earlier order",
    "enter a 0 0 buy 5 at 1\nreduce a to 5": "not less than it has",
    "enter a 0 0 buy 5 at 1\nreplace-both a to 5 at 1 and a to 5 at 2": "two different orders",
}


class OutsideProgram(unittest.TestCase):
    program = ""

    def run_on(self, text):
        return subprocess.run([self.program, "-"], input=text, capture_output=True, text=True, timeout=60, check=False)

    def test_gives_the_events_that_are_written_down(self):
        sessions = sorted((ROOT / "examples/engine_sessions").glob("*.txt"))
        self.assertTrue(sessions)
        for session in sessions:
            with self.subTest(session.name):
                done = self.run_on(session.read_text(encoding="utf-8"))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout, session.with_suffix(".out").read_text(encoding="utf-8"))

    def test_refuses_a_line_that_makes_no_sense_and_says_which(self):
        for text, complaint in WRONG.items():
            with self.subTest(text):
                done = self.run_on(text + "\n")
                self.assertEqual(done.returncode, 1)
                self.assertTrue(done.stderr.startswith(f"-:{text.count(chr(10)) + 1}: "), done.stderr)
                self.assertIn(complaint, done.stderr)

    def test_says_of_a_closed_order_that_it_is_closed(self):
        done = self.run_on("enter a 0 0 buy 5 at 1\ncancel a\ncancel a\n")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.endswith("closed a\n"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        OutsideProgram.program = str(pathlib.Path(folder) / "engine")
        subprocess.run([sys.argv.pop(1), "-std=c++23", "-O1", "-I", "src", *SOURCES, "-o", OutsideProgram.program],
                       cwd=ROOT, check=True)
        unittest.main()
