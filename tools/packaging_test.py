#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what packaging/ says: the same version everywhere, sound files, and an image that has the program's libraries. Makes the
Debian package of the program, and installs, upgrades, removes and purges it in a folder that dpkg takes for the machine.

    packaging_test.py CORRO
"""

import json
import os
import pathlib
import re
import shutil
import signal
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

    def test_the_image_has_no_keys_and_each_container_draws_its_own(self):
        start = PACKAGING / "container_start"
        self.assertNotIn("demo.toml /", text_of("packaging/Containerfile"))
        public = set(re.findall(r'^key = "(\w+)"', text_of("config/demo.toml"), re.MULTILINE))
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "corro").symlink_to(CORRO)
            template = subprocess.run([start, "--template", ROOT / "config/demo.toml"], capture_output=True, text=True, timeout=60, check=True).stdout
            self.assertNotRegex(template, "|".join(public))
            # This test's ports are free ones, on loopback.
            (place / "template.toml").write_text(re.sub(r"0\.0\.0\.0:\d+", "127.0.0.1:0", template), encoding="utf-8")
            drawn = []
            for name, *words in (("first", "demo", "--plain", "--seconds", "1"), ("first", "--version"), ("second", "--version"), ("second", "--help")):
                config = place / f"{name}.toml"
                environment = {**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "CORRO_CONFIG": str(config), "CORRO_TEMPLATE": str(place / "template.toml")}
                done = subprocess.run([start, *words], capture_output=True, text=True, timeout=60, check=False, env=environment)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                drawn.append(re.findall(r'^key = "([0-9a-f]{64})"', config.read_text(encoding="utf-8"), re.MULTILINE))
                self.assertEqual(config.stat().st_mode & 0o777, 0o600)
                if words[0] == "demo":
                    for key in drawn[0][:2]:  # those of alice and bob are printed, for their clients
                        self.assertIn(key, done.stdout)
            self.assertEqual((drawn[0], drawn[2]), (drawn[1], drawn[3]))
            self.assertEqual(len({*drawn[0], *drawn[2], *public}), 3 * len(public))

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


DPKG = ("dpkg-deb", "dpkg-shlibdeps", "strip", "systemd-sysusers")


@unittest.skipUnless(all(map(shutil.which, DPKG)) and os.geteuid() == 0, "this needs root on a Debian system with dpkg-dev and systemd")
class ProgramPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="corro-package-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = pathlib.Path(cls.folder.name)
        made = subprocess.run([ROOT / "tools/package_program", "--program", CORRO, "--output", cls.work, "--maintainer",
                               "the Corro developers <packages@corro.invalid>"], capture_output=True, text=True, timeout=300, check=False)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        cls.package = pathlib.Path(made.stdout.strip())

    def setUp(self):
        self.root = self.work / self.id().rsplit(".", 1)[1]
        for place in ("var/lib/dpkg/updates", "var/lib/dpkg/info", "etc", "tmp"):
            (self.root / place).mkdir(parents=True)
        for file in ("status", "available"):
            (self.root / "var/lib/dpkg" / file).touch()

    def dpkg(self, *arguments):
        """The libraries are this machine's, not the folder's."""
        done = subprocess.run(["dpkg", f"--root={self.root}", f"--log={self.root}/tmp/dpkg.log", "--force-depends", "--force-script-chrootless",
                               "--force-confold", *arguments], capture_output=True, text=True, timeout=300, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def files(self):
        own = ("var/lib/dpkg", "tmp", "etc/passwd", "etc/group", "etc/shadow", "etc/gshadow", "etc/.pwd.lock")
        names = sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if not path.is_dir())
        return [name for name in names if not name.startswith(own)]

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_finds_nothing(self):
        done = subprocess.run(["lintian", "--allow-root", "--tag-display-limit", "0", self.package], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_installed_and_purged(self):
        self.dpkg("-i", self.package)
        installed = self.files()
        self.assertEqual(installed, [
            "etc/corro/venue.toml", "lib/systemd/system/corro.service", "usr/bin/corro", "usr/lib/sysusers.d/corro.conf",
            "usr/share/bash-completion/completions/corro", "usr/share/doc/corro/changelog.gz", "usr/share/doc/corro/copyright",
            "usr/share/doc/corro/monitoring/alerts.yml", "usr/share/doc/corro/monitoring/dashboard.json",
            "usr/share/fish/vendor_completions.d/corro.fish", "usr/share/man/man1/corro.1.gz", "usr/share/zsh/vendor-completions/_corro"])
        user = re.search(r"^corro:[^:]*:(\d+):(\d+):", (self.root / "etc/passwd").read_text(), re.MULTILINE)
        self.assertTrue(user)
        config = (self.root / "etc/corro/venue.toml").stat()
        self.assertEqual((config.st_mode & 0o777, config.st_uid, config.st_gid), (0o640, 0, int(user[2])))
        version = re.search(r"^project\(corro VERSION (\S+)", text_of("CMakeLists.txt"), re.MULTILINE)[1]
        said = subprocess.run([self.root / "usr/bin/corro", "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn(version, said)
        if shutil.which("man"):
            page = subprocess.run(["man", "--warnings", "-l", self.root / "usr/share/man/man1/corro.1.gz"], capture_output=True, text=True,
                                  timeout=60, check=False, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            self.assertIn("corro serve", page.stdout)
        # A removal keeps the venue: its configuration and its journal.
        journal = self.root / "var/lib/corro/journal/0000000001.segment"
        journal.parent.mkdir(parents=True)
        journal.write_text("orders")
        log = self.root / "var/log/corro/records.1.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text("{}")
        self.dpkg("--remove", "corro")
        self.assertEqual(self.files(), ["etc/corro/venue.toml", "var/lib/corro/journal/0000000001.segment", "var/log/corro/records.1.jsonl"])
        self.dpkg("--purge", "corro")
        self.assertEqual(self.files(), [])

    def test_an_upgrade_keeps_the_configuration(self):
        self.dpkg("-i", self.package)
        config = self.root / "etc/corro/venue.toml"
        config.write_text("# mine\n")
        config.chmod(0o600)
        newer = self.work / "newer"
        subprocess.run(["dpkg-deb", "-R", self.package, newer], check=True, timeout=60)
        control = (newer / "DEBIAN/control").read_text()
        (newer / "DEBIAN/control").write_text(re.sub(r"^(Version: .*)$", r"\1+newer", control, flags=re.MULTILINE))
        with open(newer / "etc/corro/venue.toml", "a", encoding="utf-8") as file:
            file.write("# a new key\n")
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", newer, self.work / "newer.deb"], check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
        self.dpkg("-i", self.work / "newer.deb")
        self.assertEqual(config.read_text(), "# mine\n")
        self.assertEqual(config.stat().st_mode & 0o777, 0o600)
        self.assertIn("# a new key", (self.root / "etc/corro/venue.toml.dpkg-dist").read_text())
        self.dpkg("--purge", "corro")
        self.assertEqual(self.files(), [])

    def test_the_venue_of_the_package_starts(self):
        """Its configuration, with a journal and ports of this test."""
        subprocess.run(["dpkg-deb", "-x", self.package, self.root], check=True, timeout=60)
        text = (self.root / "etc/corro/venue.toml").read_text()
        self.assertIn('journal = "/var/lib/corro/journal"', text)
        text = re.sub(r'"127\.0\.0\.1:70\d\d"', '"127.0.0.1:0"', re.sub(r"/var/(?:lib|log)/corro", str(self.root / "state"), text))
        (self.root / "state").mkdir()
        config = self.root / "state/venue.toml"
        config.write_text(text)
        with subprocess.Popen([self.root / "usr/bin/corro", "serve", "--config", config], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, stdin=subprocess.DEVNULL) as venue:
            said = ""
            for line in venue.stdout:
                said += line
                if "Ctrl-C" in line:
                    venue.send_signal(signal.SIGTERM)
        self.assertEqual(venue.returncode, 0, said)
        self.assertIn("Ctrl-C", said)
        self.assertTrue((self.root / "state/journal").is_dir())
        self.assertTrue((self.root / "state/records.1.jsonl").is_file())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
