#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums up a ctest run from its JUnit file: failed tests, skipped tests with their reasons, and the three counts.

A test skips itself by its exit code or by what it prints. One that ctest could not start has failed.

The last line is `N passed, N failed, N skipped`. Exit code 0 only when nothing failed and something passed.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree


def reason_of(output: str) -> str:
    """The reason that a skipped test gave: GoogleTest prints it below "file:line: Skipped", scripts as `skipped: why`."""
    match = re.search(r"^\S+:\d+: Skipped\n(.+?)\n(?:\n|\[)", output, re.MULTILINE | re.DOTALL)
    if match:
        return " ".join(match.group(1).split())
    match = re.search(r"^skipped: (.+)$", output, re.MULTILINE)
    return match.group(1) if match else "gave no reason"


def skipped_itself(case: ElementTree.Element) -> bool:
    message = case.find("skipped")
    return case.get("status") == "disabled" or (message is not None and message.get("message", "").startswith("SKIP_"))


def main(path: str) -> int:
    passed, failed, skipped = 0, [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        name = case.get("name", "").split("  # ")[0]  # GoogleTest appends the bytes of a parameter that it cannot print
        if case.find("failure") is not None or case.get("status") == "fail":
            failed.append(name)
        elif skipped_itself(case):
            skipped.append((name, reason_of(output)))
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            failed.append(f"{name}: did not start")
        else:
            passed += 1
    for name, reason in skipped:
        print(f"skipped: {name}: {reason}")
    for name in failed:
        print(f"FAILED: {name}")
    print(f"{passed + len(failed)} tests ran; times and output are in {path}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: test_summary.py RESULTS.xml")
    sys.exit(main(sys.argv[1]))
