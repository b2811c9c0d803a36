#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./run builds: the program, without Boost, the lab and the tests. Configures the preset `run` and compiles its
precompiled headers, nothing else.

usage: run_build_test.py BUILD_FOLDER COMPILER
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Packages that a machine without the section `build` of tools/packages.txt may lack.
ABSENT = ("Boost", "GTest", "Python3")


def output_of(*arguments):
    environment = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC")}
    ran = subprocess.run([str(each) for each in arguments], cwd=ROOT, text=True, capture_output=True, env=environment,
                         timeout=240)
    if ran.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, arguments))}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def sources_of(compiled):
    """The sources in a file that is compiled: itself, or those that CMake put together in it."""
    if "/Unity/" not in compiled:
        return [compiled]
    return re.findall(r'^#include "(.+)"$', pathlib.Path(compiled).read_text(encoding="utf-8"), re.MULTILINE)


class RunBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = BUILD / "tests" / "run_build"
        output_of("cmake", "--preset", "run", "--fresh", "-B", cls.folder, f"-DCMAKE_CXX_COMPILER={COMPILER}",
                  *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ABSENT))
        cls.commands = output_of("ninja", "-C", cls.folder, "-t", "commands", "corro").splitlines()

    def compiled(self):
        return [match.group(1) for match in (re.search(r" -c (\S+)$", each) for each in self.commands) if match]

    def test_compiles_many_sources_at_a_time(self):
        self.assertLess(len(self.compiled()), 100)

    def test_compiles_its_precompiled_headers(self):
        output_of("ninja", "-C", self.folder, "corro_precompiled_core", "corro_precompiled_edge")

    def test_compiles_neither_the_lab_nor_tests(self):
        sources = [source for each in self.compiled() for source in sources_of(each)]
        self.assertGreater(len(sources), 300)
        top = str(ROOT) + "/"
        unwanted = [each for each in sources
                    if each.startswith(top + "lab/") or each.startswith(top + "tests/") or each.endswith("_test.cpp")]
        self.assertEqual(unwanted, [])

    def test_tutorials_compile_their_own_sources_and_nothing_else(self):
        def objects_of(commands):
            return {match.group(1) for match in (re.search(r" -o (\S+\.o) ", each) for each in commands) if match}

        built = objects_of(self.commands)
        for target, sources in (("example_first_bot", ["first_bot"]), ("example_first_server", ["first_server"]),
                                ("example_http_get", ["http_get"])):
            more = objects_of(output_of("ninja", "-C", self.folder, "-t", "commands", target).splitlines()) - built
            self.assertEqual(more, {f"examples/CMakeFiles/{target}.dir/{name}.cpp.o" for name in sources})

    def test_builds_the_libraries_that_a_tutorial_installs(self):
        linked = " ".join(self.commands)
        for layer in ("base", "io", "http", "websocket"):
            self.assertIn(f" src/{layer}/libcorro_{layer}.a", linked)

    def test_needs_no_boost(self):
        self.assertEqual([each for each in self.commands if re.search(r"boost|asio", each, re.IGNORECASE)], [])

    def test_is_optimised_and_precompiles(self):
        self.assertTrue(any(" -O2 " in each for each in self.commands))
        self.assertTrue(any("cmake_pch" in each for each in self.commands))

    def test_one_source_alone_includes_the_command_line_library(self):
        including = [path.relative_to(ROOT).as_posix() for top in ("src", "apps", "lab")
                     for path in sorted((ROOT / top).rglob("*.[ch]pp"))
                     if re.search(r"#\s*include\s*<CLI/", path.read_text(encoding="utf-8"))]
        self.assertEqual(including, ["apps/command_line/command_line.cpp"])


if __name__ == "__main__":
    BUILD, COMPILER = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
