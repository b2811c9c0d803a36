#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command in docs/spec/promises.md runs tests that exist.

    tools/check_promises.py PAGE BUILD_FOLDER
    tools/check_promises.py --self-test

A proof that is named by a filter proves nothing once the tests are called something else. For each `--filter EXPRESSION` of the
page, and for each alternative within it, at least one test of the build folder must match. Exit code 77 means: skipped, because
not everything is built.
"""

import re
import subprocess
import sys
from pathlib import Path

FILTER = re.compile(r"--filter ('[^']+'|[^\s`]+)")
TEST = re.compile(r"^ +Test +#\d+: (.*)$", re.MULTILINE)


def alternatives_of(expression: str) -> list[str]:
    """The expressions that one with groups of alternatives stands for: "(a|b).c" is "a.c" and "b.c"."""
    group = re.search(r"\(([^()]*)\)", expression)
    if group is None:
        return [expression]
    before, behind = expression[: group.start()], expression[group.end():]
    return [whole for part in group[1].split("|") for whole in alternatives_of(before + part + behind)]


def missing(page: str, tests: list[str]) -> list[str]:
    """A sentence for each expression of the page that no test matches."""
    found = []
    for quoted in FILTER.findall(page):
        for expression in alternatives_of(quoted.strip("'")):
            if not any(re.search(expression, name) for name in tests):
                found.append(f"--filter {quoted}: no test's name matches {expression}")
    return found


def self_test() -> None:
    tests = ["checks/roles", "node/line_feed.n1_a_packet_is_lost"]
    assert missing("`./test --filter checks/roles`: x `./test --filter '(line_feed|checks).(n1|roles)'`", tests) == [
        "--filter '(line_feed|checks).(n1|roles)': no test's name matches line_feed.roles",
        "--filter '(line_feed|checks).(n1|roles)': no test's name matches checks.n1"]
    assert missing("`./test --filter gone`", tests) == ["--filter gone: no test's name matches gone"]
    assert missing("`./test --preset asan`", tests) == []


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    page, folder = Path(sys.argv[1]), sys.argv[2]
    listed = subprocess.run(["ctest", "--test-dir", folder, "--show-only"], check=True, capture_output=True, text=True).stdout
    tests = TEST.findall(listed)
    if any(name.endswith("_NOT_BUILT") for name in tests):
        print(f"{folder}: not everything is built")
        return 77
    text = page.read_text(encoding="utf-8")
    findings = missing(text, tests)
    for finding in findings:
        print(f"{page}: {finding}")
    filters = len(FILTER.findall(text))
    print(f"{filters} filters, {len(tests)} tests, {len(findings)} findings")
    return 1 if findings or not filters or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
