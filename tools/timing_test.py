#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of times must count each step once, as it was built last, and for the right target."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import timing  # noqa: E402

LOG = """# ninja log v5
0\t9000\t1\tsrc/io/CMakeFiles/corro_io.dir/task/task.cpp.o\taa
0\t2000\t1\tsrc/io/CMakeFiles/corro_io.dir/net/tcp.cpp.o\tbb
100\t4100\t2\tsrc/io/CMakeFiles/corro_io.dir/task/task.cpp.o\taa
4100\t4200\t2\tsrc/io/libcorro_io.a\tcc
5000\t6000\t2\tgenerated/a.hpp\tdd
5000\t6000\t2\tgenerated/b.hpp\tdd
"""
JUNIT = """<testsuite><testcase name="io/a" time="1.5"/><testcase name="io/b  # GetParam() = 4-byte object" time="2"/>
<testcase name="checks/c" time="0.25"/></testsuite>"""


class Timing(unittest.TestCase):
    def test_a_step_counts_as_it_was_built_last(self) -> None:
        self.assertEqual(timing.steps_of(LOG)["src/io/CMakeFiles/corro_io.dir/task/task.cpp.o"], 4.0)

    def test_a_step_with_two_outputs_counts_once(self) -> None:
        self.assertEqual(sum(timing.steps_of(LOG).values()), 4.0 + 2.0 + 0.1 + 1.0)

    def test_sums_up_the_steps_of_a_target(self) -> None:
        lines = timing.build_report(LOG)
        self.assertIn(f"{6.0:8.1f} {2:6}  corro_io", lines)
        self.assertIn(f"{0.1:8.1f} {1:6}  libcorro_io.a", lines)
        self.assertIn(f"{4.0:8.1f}  src/io/task/task.cpp", lines)

    def test_an_empty_log_is_no_build(self) -> None:
        self.assertEqual(timing.build_report("# ninja log v5\n"), ["no step of a build is in the log"])

    def test_sums_up_the_tests_of_a_group(self) -> None:
        lines = timing.test_report(JUNIT)
        self.assertEqual(lines[0], "tests: 3, 4 s one after another")
        self.assertIn(f"{3.5:8.1f} {2:6}  io", lines)
        self.assertIn(f"{2.0:8.1f}  io/b", lines)

    def test_a_folder_that_was_never_built_is_an_error(self) -> None:
        self.assertEqual(timing.main("/nonexistent", None), 1)


if __name__ == "__main__":
    unittest.main()
