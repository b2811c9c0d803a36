#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the tables of a lab report (`corro lab run --markdown REPORT`) into a page.

    tools/insert_lab_tables.py REPORT PAGE

The page marks each place with a pair of comments; what stands between them is replaced by that section of the report:

    <!-- lab: Summary -->            the section "## Summary"
    <!-- lab: sockets / Every subject -->   the section "### Every subject" of "## sockets"
    <!-- lab end -->

Fails, and leaves the page as it is, if the report lacks a section that the page asks for.
"""

import re
import sys
from pathlib import Path

PLACE = re.compile(r"(<!-- lab: (?P<name>[^>]*?) -->\n).*?(<!-- lab end -->)", re.DOTALL)


def sections_of(report: str) -> dict[str, str]:
    """The body of every section under a level 2 heading ("coro") and under a level 3 heading ("coro / Every subject")."""
    found: dict[str, list[str]] = {}
    chapter = name = ""
    for line in report.splitlines():
        if line.startswith("## "):
            chapter = name = line[3:].strip()
        elif line.startswith("### "):
            name = f"{chapter} / {line[4:].strip()}"
        elif name:
            found.setdefault(name, []).append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items()}


def filled(page: str, sections: dict[str, str]) -> str:
    missing = {match["name"] for match in PLACE.finditer(page)} - sections.keys()
    if missing:
        raise KeyError(f"the report has no section {', '.join(sorted(missing))}")
    return PLACE.sub(lambda match: f"{match[1]}\n{sections[match['name']]}\n\n{match[3]}", page)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    report, page = Path(sys.argv[1]), Path(sys.argv[2])
    try:
        page.write_text(filled(page.read_text(), sections_of(report.read_text())))
    except KeyError as error:
        print(f"{page}: {error.args[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
