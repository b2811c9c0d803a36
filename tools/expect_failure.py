#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command that must fail with a given message, and then its sound twin, which must succeed.

    expect_failure.py --expect REGEX --control=ARGUMENT -- COMMAND...

The twin is the same command with ARGUMENT added. Without it a missing header would pass for the expected failure.
"""

import argparse
import re
import subprocess
import sys


def run(command: list[str]) -> tuple[int, str]:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--expect", required=True)
    parser.add_argument("--control", required=True)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()

    code, output = run(arguments.command)
    if code == 0:
        print(f"{output}\nThe command succeeded; it should have failed with: {arguments.expect}")
        return 1
    # Messages are wrapped by the tools as they please.
    if not re.search(arguments.expect, " ".join(output.split())):
        print(f"{output}\nThe command failed, but not with: {arguments.expect}")
        return 1
    code, output = run([*arguments.command, arguments.control])
    if code != 0:
        print(f"{output}\nThe control, with {arguments.control}, failed too: the first failure proves nothing.")
        return 1
    print(f"failed as expected, with: {arguments.expect}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
