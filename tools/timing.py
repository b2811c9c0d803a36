#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the time of a build folder went: CMake targets and sources, slowest first, and the tests of each layer.

The build's part is read from Ninja's log: how long each step took when it was last run. Steps run side by side, so the
sum exceeds the time that passed. Steps that ccache answered count with the little that they took. The tests' part is
read from ctest's JUnit file.

usage: timing.py BUILD_FOLDER [RESULTS.xml]
"""

import collections
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

ROWS = 15


def steps_of(log: str) -> dict[str, float]:
    """Seconds of each output of a Ninja log, as it was built last. A step with several outputs counts once."""
    steps = {}
    for line in log.splitlines():
        fields = line.split("\t")
        if line.startswith("#") or len(fields) != 5:
            continue
        start, end, _, output, command = fields
        steps[output] = (command, start, end)
    seconds, seen = {}, set()
    for output, step in steps.items():
        if step not in seen:
            seen.add(step)
            seconds[output] = (int(step[2]) - int(step[1])) / 1000
    return seconds


def target_of(output: str) -> str:
    """`src/io/CMakeFiles/corro_io.dir/task/task.cpp.o` belongs to corro_io; a program or archive to itself."""
    parts = output.split("/")
    for folder, part in zip(parts, parts[1:]):
        if folder == "CMakeFiles" and part.endswith(".dir"):
            return part.removesuffix(".dir")
    return pathlib.PurePath(output).name


def source_of(output: str) -> str:
    """`src/io/CMakeFiles/corro_io.dir/task/task.cpp.o` was made from src/io/task/task.cpp."""
    parts = output.split("/")
    at = parts.index("CMakeFiles")
    return "/".join(parts[:at] + parts[at + 2:]).removesuffix(".o")


def build_report(log: str) -> list[str]:
    steps = steps_of(log)
    if not steps:
        return ["no step of a build is in the log"]
    targets = collections.defaultdict(lambda: [0.0, 0])
    for output, seconds in steps.items():
        entry = targets[target_of(output)]
        entry[0] += seconds
        entry[1] += 1
    sources = {source_of(output): seconds for output, seconds in steps.items() if output.endswith(".o") and "CMakeFiles" in output}
    lines = [f"build: {len(steps)} steps, {sum(steps.values()):.0f} s one after another", "", f"{'seconds':>8} {'steps':>6}  target"]
    for name, (seconds, count) in sorted(targets.items(), key=lambda item: -item[1][0])[:ROWS]:
        lines.append(f"{seconds:8.1f} {count:6}  {name}")
    lines += ["", f"{'seconds':>8}  source"]
    for name, seconds in sorted(sources.items(), key=lambda item: -item[1])[:ROWS]:
        lines.append(f"{seconds:8.1f}  {name}")
    return lines


def test_report(junit: str) -> list[str]:
    groups = collections.defaultdict(lambda: [0.0, 0])
    slowest = []
    for case in ElementTree.fromstring(junit).iter("testcase"):
        name, seconds = case.get("name", "").split("  # ")[0], float(case.get("time") or 0)
        entry = groups[name.split("/")[0]]
        entry[0] += seconds
        entry[1] += 1
        slowest.append((seconds, name))
    total = sum(seconds for seconds, _ in slowest)
    lines = [f"tests: {len(slowest)}, {total:.0f} s one after another", "", f"{'seconds':>8} {'tests':>6}  group"]
    for name, (seconds, count) in sorted(groups.items(), key=lambda item: -item[1][0]):
        lines.append(f"{seconds:8.1f} {count:6}  {name}")
    lines += ["", f"{'seconds':>8}  test"]
    lines += [f"{seconds:8.1f}  {name}" for seconds, name in sorted(slowest, reverse=True)[:ROWS]]
    return lines


def main(folder: str, results: str | None) -> int:
    log = pathlib.Path(folder) / ".ninja_log"
    if not log.exists():
        print(f"error: {log} does not exist; build {folder} first", file=sys.stderr)
        return 1
    print("\n".join(build_report(log.read_text(encoding="utf-8"))))
    if results is not None:
        print()
        print("\n".join(test_report(pathlib.Path(results).read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: timing.py BUILD_FOLDER [RESULTS.xml]")
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None))
