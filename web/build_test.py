#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the dashboard again: dist/ has the same bytes, and the types are right.

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
        dist = os.path.join(HERE, "dist")
        names = sorted(set(os.listdir(folder)) | set(os.listdir(dist)))
        _, different, absent = filecmp.cmpfiles(folder, dist, names, shallow=False)
        for name in different + absent:
            print(f"web/dist/{name} is not what the sources build: npm run build")
        total = 0
        for name in names:
            compressed = subprocess.run(["gzip", "-9", "-c", os.path.join(folder, name)], capture_output=True, check=True).stdout
            total += len(compressed)
    print(f"{len(names)} files, {total} bytes compressed, at most {FIRST_PICTURE_BYTES_MAX}")
    return 1 if different or absent or total > FIRST_PICTURE_BYTES_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
