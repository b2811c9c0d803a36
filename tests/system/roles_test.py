#!/usr/bin/env python3
"""Runs facility, gateway and distributor as three processes, as a person would, and kills each.

usage: roles_test.py CORRO SOURCE_FOLDER
"""

import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, demo_configuration, run


class Role:
    """`corro serve --role ...`; its addresses are those that it prints up to the last that is expected."""

    def __init__(self, config, role, last, *options):
        self.process = subprocess.Popen([CORRO, "serve", "--role", role, "--config", config, *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        stdin=subprocess.DEVNULL)
        self.addresses = {}
        while last not in self.addresses:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"{role} ended early")
            match = re.match(r" +(order entry|feed|snapshots|link) +(\S+)$", line.rstrip())
            if match:
                self.addresses[match[1]] = match[2]

    def end(self, how):
        self.process.send_signal(how)
        output, _ = self.process.communicate(timeout=TIME_LIMIT_S)
        return output


class Roles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = demo_configuration(folder.name, f'[link]\nlisten = "{folder.name}/link"\n')
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("[venue]", text)
        self.own = path
        if "[facility]" in text:
            text = text.replace("[facility]\n", f'[facility]\njournal = "{folder.name}/journal"\n')
        else:
            text += f'[facility]\njournal = "{folder.name}/journal"\n'
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.roles = {}
        self.addCleanup(self.end_all)

    def end_all(self):
        for role in self.roles.values():
            if role.process.poll() is None:
                role.process.kill()
            role.process.stdout.close()
            role.process.wait()

    def fixed(self, port, address):
        """From now on the address is configured, so that whoever starts again listens there."""
        with open(self.own, encoding="utf-8") as file:
            text = file.read()
        with open(self.own, "w", encoding="utf-8") as file:
            file.write(re.sub(rf'^{port} = ".*"$', f'{port} = "{address}"', text, flags=re.MULTILINE))

    def start_facility(self):
        self.roles["facility"] = Role(self.own, "facility", "snapshots")

    def start_gateway(self):
        self.roles["gateway"] = Role(self.own, "gateway", "order entry")

    def start_distributor(self):
        facility = self.roles["facility"].addresses
        other = self.own.replace("corro.toml", "distributor.toml")
        with open(self.own, encoding="utf-8") as file:
            text = re.sub(r'^(feed_listen|snapshot_listen) = ".*"$', r'\1 = "127.0.0.1:0"', file.read(), flags=re.MULTILINE)
        with open(other, "w", encoding="utf-8") as file:
            file.write(text)
        self.roles["distributor"] = Role(other, "distributor", "snapshots", "--venue-feed", facility["feed"],
                                         "--venue-snapshots", facility["snapshots"])

    def check(self):
        load = run("load", "--config", self.own, "--venue", self.roles["gateway"].addresses["order entry"], "--clients",
                   "10", "--messages", "5000", "--outstanding", "4")
        self.assertEqual(load.returncode, 0, load.stdout + load.stderr)
        self.assertIn("answered once 5000, lost 0", load.stdout)
        distributor = self.roles["distributor"].addresses
        watch = run("watch", "CLF7", "--plain", "--seconds", "1", "--feed", distributor["feed"], "--snapshot",
                    distributor["snapshots"])
        self.assertEqual(watch.returncode, 0, watch.stdout + watch.stderr)
        self.assertIn("CLF7", watch.stdout)

    def test_each_of_three_processes_is_killed_under_load_and_started_again(self):
        self.start_facility()
        self.fixed("feed_listen", self.roles["facility"].addresses["feed"])
        self.fixed("snapshot_listen", self.roles["facility"].addresses["snapshots"])
        self.start_gateway()
        self.fixed("listen", self.roles["gateway"].addresses["order entry"])
        # The line above has moved the link's place too.
        folder = self.own.replace("/corro.toml", "")
        with open(self.own, encoding="utf-8") as file:
            text = file.read()
        with open(self.own, "w", encoding="utf-8") as file:
            file.write(re.sub(r'\[link\]\nlisten = ".*"', f'[link]\nlisten = "{folder}/link"', text))
        self.start_distributor()
        self.check()
        for name in ("facility", "gateway", "distributor"):
            with self.subTest(killed=name):
                load = subprocess.Popen([CORRO, "load", "--config", self.own, "--venue",
                                         self.roles["gateway"].addresses["order entry"], "--clients", "10", "--messages",
                                         "10000000"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                time.sleep(0.5)
                role = self.roles[name]
                role.end(signal.SIGKILL)
                if name == "facility":
                    self.start_facility()
                    # The gateway opens its port again once it has found the facility.
                    for line in self.roles["gateway"].process.stdout:
                        if "order entry" in line:
                            break
                elif name == "gateway":
                    self.start_gateway()
                else:
                    self.start_distributor()
                load.send_signal(signal.SIGINT)
                load.communicate(timeout=TIME_LIMIT_S)
                self.check()
        output = self.roles["gateway"].end(signal.SIGTERM)
        self.assertEqual(self.roles["gateway"].process.returncode, 0, output)
        output = self.roles["facility"].end(signal.SIGTERM)
        self.assertEqual(self.roles["facility"].process.returncode, 0, output)
        self.assertRegex(output, r"\d+ commands, state hash")

    def test_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            config = demo_configuration(folder)
            for role, key in (("gateway", "link.connect"), ("facility", "link.listen")):
                refused = run("serve", "--role", role, "--config", config)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(key, refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
