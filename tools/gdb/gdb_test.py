#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs examples/waiting_tasks.cpp in gdb, and reads its tasks by tools/gdb/corro_gdb.py.

    gdb_test.py PROGRAM

Exit code 77 means: skipped, for the reason printed.
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# The innermost task first, down to the one that plain code started.
CHAINS = [["desk::read_request", "desk::serve", "desk::look"], ["desk::write_log", "desk::look"], ["desk::tick", "desk::look"]]


def main() -> int:
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return 77
    run = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", f"source {HERE / 'corro_gdb.py'}", "-ex", "break corro::io::context::dump", "-ex", "run",
         "-ex", "corro-tasks", sys.argv[1]],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    if "ptrace: Operation not permitted" in run.stdout or "Could not trace the inferior" in run.stdout:
        print("skipped: this system does not allow a program to be traced")
        return 77
    found: list[list[str]] = []
    for number, name, file, line in re.findall(r"^#(\d+) +(\S+) at (\S+):(\d+)$", run.stdout, re.MULTILINE):
        if not file.endswith("examples/waiting_tasks.cpp") or int(line) == 0:
            continue
        if number == "0":
            found.append([])
        found[-1].append(name)
    if sorted(found) != sorted(CHAINS) or run.stdout.count("started by plain code") != len(CHAINS):
        print(f"{run.stdout}\nread: {found}\nexpected: {CHAINS}")
        return 1
    print(f"{len(found)} chains, as the program has them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
