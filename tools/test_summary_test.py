#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The summary must not call a failure or a skip a success."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import test_summary  # noqa: E402

PASSED = '<testcase name="a/passes" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="a/fails" status="fail"><failure message="Failed"/><system-out>no</system-out></testcase>'
SKIPPED = """<testcase name="a/skips" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>
[ RUN      ] a.skips
/x/y_test.cpp:12: Skipped
no such file here

[  SKIPPED ] a.skips (0 ms)
</system-out></testcase>"""
SCRIPT = """<testcase name="a/script" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>
skipped: no tool</system-out></testcase>"""

UNSTARTED = """<testcase name="a/unstarted" status="notrun"><skipped message="Unable to find executable"/><system-out>
Unable to find executable: </system-out></testcase>"""


def summary(*cases: str) -> tuple[int, list[str]]:
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write("<testsuite>" + "".join(cases) + "</testsuite>")
        file.flush()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = test_summary.main(file.name)
    return code, printed.getvalue().splitlines()


class TestSummary(unittest.TestCase):
    def test_counts_each_outcome_on_a_line_of_its_own(self) -> None:
        code, lines = summary(PASSED, PASSED, SKIPPED, SCRIPT)
        self.assertEqual(code, 0)
        self.assertEqual(lines[-1], "2 passed, 0 failed, 2 skipped")
        self.assertIn("skipped: a/skips: no such file here", lines)
        self.assertIn("skipped: a/script: no tool", lines)

    def test_one_failure_fails_the_run_and_is_named(self) -> None:
        code, lines = summary(PASSED, FAILED)
        self.assertEqual(code, 1)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 0 skipped")
        self.assertIn("FAILED: a/fails", lines)

    def test_a_test_that_could_not_be_started_has_failed(self) -> None:
        code, lines = summary(PASSED, UNSTARTED)
        self.assertEqual(code, 1)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 0 skipped")
        self.assertIn("FAILED: a/unstarted: did not start", lines)

    def test_a_run_in_which_nothing_passed_is_no_success(self) -> None:
        self.assertEqual(summary()[0], 1)
        self.assertEqual(summary(SKIPPED)[0], 1)


if __name__ == "__main__":
    unittest.main()
