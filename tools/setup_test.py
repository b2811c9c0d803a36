#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./run and ./test install: they never remove a package. Runs tools/setup.sh against recorded answers of apt-get."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Recorded on Debian 12 with Boost 1.74 installed: `apt-get -q install --simulate --no-install-recommends
# libboost1.81-dev tmux`, and the same for tmux alone and for a name that does not exist.
CONFLICT = """Reading package lists...
Building dependency tree...
Reading state information...
Suggested packages:
  libboost1.81-doc libboost-atomic1.81-dev libboost-chrono1.81-dev
The following packages will be REMOVED:
  libboost-dev libboost-filesystem-dev libboost-filesystem1.74-dev
  libboost-regex-dev libboost-regex1.74-dev libboost-system1.74-dev
  libboost1.74-dev
The following NEW packages will be installed:
  libboost1.81-dev tmux
0 upgraded, 2 newly installed, 7 to remove and 136 not upgraded.
Remv libboost-dev [1.74.0.3]
Remv libboost-filesystem-dev [1.74.0.3]
Remv libboost-filesystem1.74-dev [1.74.0+ds1-21]
Remv libboost-regex-dev [1.74.0.3]
Remv libboost-regex1.74-dev [1.74.0+ds1-21]
Remv libboost-system1.74-dev [1.74.0+ds1-21]
Remv libboost1.74-dev [1.74.0+ds1-21]
Inst libboost1.81-dev (1.81.0-5+deb12u1 Debian:12.15/oldstable [amd64])
Inst tmux (3.3a-3 Debian:12.15/oldstable [amd64])
Conf libboost1.81-dev (1.81.0-5+deb12u1 Debian:12.15/oldstable [amd64])
Conf tmux (3.3a-3 Debian:12.15/oldstable [amd64])
"""
REMOVED = ("libboost-dev libboost-filesystem-dev libboost-filesystem1.74-dev libboost-regex-dev libboost-regex1.74-dev "
           "libboost-system1.74-dev libboost1.74-dev")
SOUND = """Reading package lists...
Building dependency tree...
Reading state information...
The following NEW packages will be installed:
  tmux
0 upgraded, 1 newly installed, 0 to remove and 136 not upgraded.
Inst tmux (3.3a-3 Debian:12.15/oldstable [amd64])
Conf tmux (3.3a-3 Debian:12.15/oldstable [amd64])
"""
UNKNOWN = """Reading package lists...
Building dependency tree...
Reading state information...
E: Unable to locate package clang-tidy-19
"""

# Stands for apt-get: logs each call, and gives the recorded answer to a simulated one.
APT = """#!/bin/bash
echo "$*" >>"$CALLS"
case " $* " in
    *" --simulate "*)
        case " $* " in
            *" clang-tidy-19"*" "*) cat "$ANSWERS/unknown"; exit 100 ;;
            *" libboost1.81-dev "*) cat "$ANSWERS/conflict" ;;
            *) cat "$ANSWERS/sound" ;;
        esac ;;
esac
"""
# Every package is installed but those in $MISSING.
DPKG = """#!/bin/bash
for last; do :; done
case " $MISSING " in *" $last "*) exit 1 ;; esac
printf installed
"""
# Runs the command as it is.
SUDO = """#!/bin/bash
exec "$@"
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = self.folder / "calls"
        for name, text in (("apt-get", APT), ("dpkg-query", DPKG), ("sudo", SUDO)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        for name, text in (("conflict", CONFLICT), ("sound", SOUND), ("unknown", UNKNOWN)):
            (self.folder / name).write_text(text)

    def bash(self, script, missing="", given=None):
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", CALLS=str(self.calls),
                           ANSWERS=str(self.folder), MISSING=missing)
        return subprocess.run(["bash", "-c", f"set -euo pipefail; source tools/setup.sh; {script}"], cwd=ROOT, text=True,
                              input=given, capture_output=True, env=environment, timeout=60)

    def installed(self):
        """The packages of each call that was not a simulation."""
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        real = [call.split() for call in calls if " install " in f" {call} " and "--simulate" not in call]
        for call in real:
            self.assertIn("--no-remove", call)
        return [[word for word in call[call.index("install") + 1:] if not word.startswith("-")] for call in real]

    def test_finds_what_an_answer_of_apt_get_removes(self):
        for answer, removed in ((CONFLICT, REMOVED), (SOUND, ""), (UNKNOWN, ""),
                                ("Purg libboost-dev [1.74.0.3]\n", "libboost-dev")):
            found = self.bash("removed_in", given=answer)
            self.assertEqual((found.returncode, found.stdout.strip()), (0, removed))

    def test_leaves_out_a_package_whose_installation_would_remove_others(self):
        ran = self.bash("install_packages optional bridge test", missing="libboost1.81-dev tmux tshark")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(self.installed(), [["tmux", "tshark"]])
        self.assertIn(f"leaving out libboost1.81-dev, because installing it would remove: {REMOVED}\n", ran.stdout)
        self.assertIn("its purpose here: the bridge to Boost.Asio", ran.stdout)

    def test_leaves_out_a_package_that_does_not_exist(self):
        ran = self.bash("install_packages optional test", missing="clang-tidy-19 tmux")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(self.installed(), [["tmux"]])
        self.assertIn("leaving out clang-tidy-19: E: Unable to locate package clang-tidy-19\n", ran.stdout)

    def test_installs_nothing_if_a_required_package_would_remove_others(self):
        ran = self.bash("packages() { echo libboost1.81-dev tmux; }; install_packages required run",
                        missing="libboost1.81-dev tmux")
        self.assertEqual(ran.returncode, 1)
        self.assertEqual(self.installed(), [])
        self.assertIn("cannot do without: libboost1.81-dev. Nothing was installed or removed.", ran.stderr)

    def test_installs_what_is_missing_in_one_go_if_nothing_conflicts(self):
        ran = self.bash("install_packages optional test", missing="tmux tshark")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(self.installed(), [["tmux", "tshark"]])
        self.assertEqual(self.calls.read_text().count("--simulate"), 1)

    def test_calls_no_package_manager_if_nothing_is_missing(self):
        ran = self.bash("install_packages required run build")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertFalse(self.calls.exists())

    def test_run_asks_for_neither_boost_nor_the_test_framework(self):
        names = self.bash("packages run").stdout.split()
        self.assertIn("libcli11-dev", names)
        self.assertFalse({name for name in names if "boost" in name or "gtest" in name})
        self.assertIn("install_packages required run\n", (ROOT / "run").read_text())

    def test_every_package_has_a_purpose(self):
        for name in self.bash("packages run build bridge test").stdout.split():
            purpose = self.bash(f"purpose_of {name}").stdout.strip()
            self.assertTrue(purpose, name)


if __name__ == "__main__":
    unittest.main()
