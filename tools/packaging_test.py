#!/usr/bin/env python3
"""Checks what packaging/ says: the same version everywhere, sound files, and an image that has the program's libraries.

    packaging_test.py CORRO
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
CORRO = sys.argv[1]


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Packaging(unittest.TestCase):
    def test_every_place_has_the_version_of_the_build(self):
        version = re.search(r"^project\(corro VERSION (\S+)", text_of("CMakeLists.txt"), re.MULTILINE)[1]
        self.assertEqual(json.loads(text_of("packaging/vcpkg/corro/vcpkg.json"))["version"], version)
        self.assertIn(f"\nversion: {version}\n", text_of("CITATION.cff"))
        self.assertIn(f"--version {version}`", text_of("packaging/README.md"))
        newest = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)[1]
        self.assertIn(newest, (version, "Unreleased"))

    def test_files_are_sound(self):
        compile(text_of("packaging/conan/conanfile.py"), "conanfile.py", "exec")
        container = json.loads(text_of(".devcontainer/devcontainer.json"))["build"]
        self.assertTrue((ROOT / ".devcontainer" / container["dockerfile"]).is_file())
        self.assertIn(f" AS {container['target']}\n", text_of("packaging/Containerfile"))
        self.assertEqual(text_of("LICENSES/Apache-2.0.txt"), text_of("LICENSE"))
        self.assertIn('SPDX-License-Identifier = "Apache-2.0"', text_of("REUSE.toml"))

    def test_alerts_and_dashboard_use_metrics_that_there_are(self):
        known = set(re.findall(r"`(corro_[a-z_]+)`", text_of("docs/howto/observe.md"))) | {"corro_request_seconds_bucket"}
        for path in ("packaging/monitoring/alerts.yml", "packaging/monitoring/dashboard.json"):
            used = set(re.findall(r"corro_[a-z_]+", text_of(path)))
            self.assertGreater(len(used), 10)
            self.assertEqual(used - known, set(), path)
        self.assertEqual(len(json.loads(text_of("packaging/monitoring/dashboard.json"))["panels"]), 9)

    @unittest.skipUnless(shutil.which("promtool"), "promtool (Debian: prometheus) is not installed")
    def test_the_alerts_are_sound(self):
        done = subprocess.run(["promtool", "check", "rules", ROOT / "packaging/monitoring/alerts.yml"], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_the_unit_is_sound(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / "corro.service"
            # The program is not installed here, and neither is its manual page.
            lines = [line for line in text_of("packaging/corro.service").splitlines(True) if not line.startswith("Documentation=")]
            unit.write_text("".join(lines).replace("/usr/bin/corro", "/bin/true"), encoding="utf-8")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=60, check=False)
            self.assertNotIn("corro.service", done.stderr)

    @unittest.skipUnless(shutil.which("dpkg-query") and shutil.which("ldd"), "this is not a Debian system")
    def test_the_image_has_the_libraries_of_the_program(self):
        listed = subprocess.run(["ldd", CORRO], capture_output=True, text=True, timeout=60, check=True).stdout
        files = re.findall(r"=> (/\S+)", listed)
        self.assertGreater(len(files), 3)
        image = text_of("packaging/Containerfile").rsplit("FROM ", 1)[1]
        needed = set()
        for file in files:
            name = pathlib.Path(file).name
            place = f"*/{pathlib.Path(file).parent.name}/{name}"
            owner = subprocess.run(["dpkg-query", "--search", place], capture_output=True, text=True, timeout=60, check=False)
            packages = {line.split(":")[0] for line in owner.stdout.splitlines() if "-dev" not in line.split(":")[0]}
            needed.add(next(iter(sorted(packages)), name))
        # These are in every Debian system, or come with those that the image names.
        needed -= {"libc6", "libgcc-s1", "libtinfo6", "libc6-i386"}
        for package in needed:
            self.assertRegex(image, rf"\b{re.escape(package)}\b")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
