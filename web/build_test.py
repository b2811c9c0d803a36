#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the pages again: dist/ has the same bytes, and the types are right.

usage: build_test.py
"""

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_PICTURE_BYTES_MAX = 150 * 1024


def main():
    if shutil.which("node") is None:
        print("skipped: node is not installed (package nodejs)")
        return 77
    if not os.path.isdir(os.path.join(HERE, "node_modules", "esbuild")):
        print("skipped: web/node_modules is missing: npm ci --prefix web")
        return 77
    checked = subprocess.run(["node", "node_modules/typescript/bin/tsc", "--noEmit"], cwd=HERE, check=False)
    if checked.returncode != 0:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["node", "build.mjs", folder], cwd=HERE, check=True)
        # The dashboard, and the laboratory's page.
        bad = [page for page in ("", "lab") if not check(os.path.join(folder, page), os.path.join(HERE, "dist", page))]
    return 1 if bad else 0


def check(built, dist):
    """Whether a folder of a page has what was built, and is small enough."""
    names = sorted(name for name in set(os.listdir(built)) | set(os.listdir(dist)) if not os.path.isdir(os.path.join(built, name)))
    _, different, absent = filecmp.cmpfiles(built, dist, names, shallow=False)
    for name in different + absent:
        print(f"{os.path.join(dist, name)} is not what the sources build: npm run build")
    total = 0
    for name in names:
        if name in absent:
            continue
        compressed = subprocess.run(["gzip", "-9", "-c", os.path.join(built, name)], capture_output=True, check=True).stdout
        total += len(compressed)
    print(f"{len(names)} files, {total} bytes compressed, at most {FIRST_PICTURE_BYTES_MAX}")
    return not different and not absent and total <= FIRST_PICTURE_BYTES_MAX


if __name__ == "__main__":
    sys.exit(main())
