#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs facility, gateway and distributor as three processes, with the commands that the howto prints, and kills each.

usage: roles_test.py CORRO SOURCE_FOLDER
"""

import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest

from running_exchange import CORRO, SOURCE, TIME_LIMIT_S, demo_configuration, free_ports, run

HOWTO = os.path.join(SOURCE, "docs", "howto", "three_processes.md")
ROLES = ("facility", "gateway", "distributor")


def commands_of(block):
    """The lines of one of the howto's blocks."""
    with open(HOWTO, encoding="utf-8") as file:
        return re.search(rf"^```{block}\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)[1].splitlines()


class Running:
    """A program in the background, whose words go to a file."""

    def __init__(self, command, folder):
        arguments = shlex.split(command)
        assert arguments[0] == "corro"
        self.said = tempfile.NamedTemporaryFile("w+", dir=folder, encoding="utf-8")
        self.process = subprocess.Popen([CORRO, *arguments[1:]], stdout=self.said, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, cwd=folder)

    def words(self):
        with open(self.said.name, encoding="utf-8") as file:
            return file.read()

    def await_words(self, pattern, count=1):
        """Waits until it has printed the words this number of times."""
        end = time.monotonic() + TIME_LIMIT_S
        while len(re.findall(pattern, self.words())) < count:
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{pattern!r} was not said {count} times: {self.words()}")
            time.sleep(0.02)

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait(timeout=TIME_LIMIT_S)
        return self.words()


class RolesOfThePage(unittest.TestCase):
    """Runs the commands of the page's blocks; a prefix selects them."""
    BLOCKS = ""
    FILES = ("venue.toml", "distributor.toml")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.running = {}
        self.addCleanup(self.end_all)
        used = ("7001", "7002", "7003", "7004", "7005", "7009", "7010", "7011", "7020", "7102", "7103", "7104", "7105", "7111")
        self.ports = dict(zip(used, free_ports(len(used))))
        os.symlink(os.path.join(SOURCE, "config"), os.path.join(self.folder, "config"))
        for command in commands_of(self.BLOCKS + "setup"):
            subprocess.run(["sh", "-c", command], check=True, cwd=self.folder)
        for name in self.FILES:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                text = self.with_free_ports(file.read())
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.start_commands = dict(zip(ROLES, commands_of(self.BLOCKS + "start")))

    def with_free_ports(self, text):
        return re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda port: str(self.ports[port[0]]), text)

    def start(self, name, command):
        self.running[name] = Running(self.with_free_ports(command), self.folder)
        return self.running[name]

    def start_role(self, role):
        self.assertIn(f"--role {role}", self.start_commands[role])
        self.start(role, self.start_commands[role]).await_words("order entry" if role == "gateway" else "snapshots")

    def end_all(self):
        for each in self.running.values():
            if each.process.poll() is None:
                each.process.kill()
                each.process.wait()
            each.said.close()


class Roles(RolesOfThePage):
    def setUp(self):
        super().setUp()
        self.load_command, self.watch_command = commands_of("use")

    def test_each_of_three_processes_is_killed_under_load_and_started_again(self):
        for role in ROLES:
            self.start_role(role)
        load = self.start("load", self.load_command)
        watch = self.start("watch", self.watch_command)
        answering = r"10 of 10 clients logged on +\d+ answered +[1-9]\d*/s"
        trading = r"CLF7 .* [1-9]\d* messages/s"
        load.await_words(answering)
        watch.await_words(trading)
        for role in ROLES:
            with self.subTest(killed=role):
                self.running[role].end(signal.SIGKILL)
                if role == "distributor":
                    watch.await_words("feed lost")
                    self.start_role(role)
                    # A new distributor joins by a snapshot. Messages are missed unless none came meanwhile.
                    watch.await_words(r"feed back after \d+\.\d+ s, (from a snapshot|nothing missed)")
                else:
                    load.await_words("connection lost", 1 + ROLES.index(role))
                    self.start_role(role)
                    load.await_words(r"10 reconnected after \d+\.\d+ s, \d+ requests resent", 1 + ROLES.index(role))
                load.await_words(answering, 1 + len(re.findall(answering, load.words())))
                watch.await_words(trading, 1 + len(re.findall(trading, watch.words())))
        output = load.end(signal.SIGINT)
        self.assertEqual(load.process.returncode, 0, output)
        sent = re.search(r"10 clients sent (\d+) requests", output)[1]
        self.assertIn(f"answered once {sent}, lost 0", output)
        self.assertRegex(output, r"connections lost 20 in 2 outages, back 20; away \d+\.\d+ s at the median")
        output = watch.end(signal.SIGINT)
        self.assertEqual(watch.process.returncode, 0, output)
        complete = len(re.findall("feed back after .* nothing missed", watch.words()))
        self.assertIn(f"the feed was lost 1 times, {complete} of them without missed messages", output)
        for role in ("gateway", "facility"):
            output = self.running[role].end(signal.SIGTERM)
            self.assertEqual(self.running[role].process.returncode, 0, output)
        self.assertRegex(output, r"\d+ commands, state hash [0-9a-f]{16}; cancelled for 10 sessions that were gone")

    def test_goes_on_with_the_next_message_when_the_one_who_feeds_keeps_them(self):
        for role in ("facility", "gateway"):
            self.start_role(role)
        self.start("load", self.load_command).await_words("answered +[1-9]")
        watch = self.start("watch", self.watch_command.replace("distributor.toml", "venue.toml"))
        watch.await_words("messages/s")
        self.running["facility"].end(signal.SIGKILL)
        watch.await_words("feed lost")
        self.start_role("facility")
        watch.await_words(r"feed back after \d+\.\d+ s, nothing missed")
        output = watch.end(signal.SIGINT)
        self.assertIn("the feed was lost 1 times, 1 of them without missed messages", output)

    def test_notices_a_client_that_does_not_come_back(self):
        """The control: the same load with a client that gives up loses its outstanding requests."""
        for role in ("facility", "gateway"):
            self.start_role(role)
        load = self.start("load", self.load_command + " --patience 0")
        load.await_words("answered +[1-9]")
        self.running["gateway"].end(signal.SIGKILL)
        load.process.wait(timeout=TIME_LIMIT_S)
        self.assertEqual(load.process.returncode, 1)
        self.assertRegex(load.words(), r"lost [1-9]\d*, fills")
        self.assertIn("could not reconnect", load.words())

    def test_survives_a_signal_that_asks_for_tables(self):
        for role in ROLES:
            self.start_role(role)
        self.start("load", self.load_command).await_words("answered +[1-9]")
        self.start("watch", self.watch_command).await_words("messages/s")
        for role in ROLES:
            self.running[role].process.send_signal(signal.SIGUSR1)
            self.running[role].await_words("this role has no latency tables")
            self.assertIsNone(self.running[role].process.poll(), role)

    def test_says_which_port_a_gateway_cannot_have_when_its_facility_is_there(self):
        self.start_role("facility")
        refused = self.start("refused", self.start_commands["gateway"] + " --listen 127.0.0.1:7002")
        self.assertEqual(refused.process.wait(timeout=TIME_LIMIT_S), 1, refused.words())
        self.assertIn(f"order_entry.listen: cannot listen on 127.0.0.1:{self.ports['7002']}", refused.words())

    def test_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            config = demo_configuration(folder)
            for role, key in (("gateway", "link.connect"), ("facility", "link.listen"), ("distributor", "--venue-feed")):
                refused = run("serve", "--role", role, "--config", config)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(key, refused.stderr)


class DividedRoles(RolesOfThePage):
    BLOCKS = "divided-"
    FILES = ("divided.toml", "energy.toml")

    def run_line(self, command):
        """Runs a command of the page to its end."""
        line = self.with_free_ports(command).replace("corro ", f"{shlex.quote(CORRO)} ")
        done = subprocess.run(["sh", "-c", line], cwd=self.folder, capture_output=True, text=True, timeout=TIME_LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def await_order(self):
        """Waits until the distributor shows the order, and the sessions can log on again."""
        watch = commands_of("divided-use")[-1]
        end = time.monotonic() + TIME_LIMIT_S
        while "70.00" not in (shown := self.run_line(watch)):
            self.assertLess(time.monotonic(), end, shown)

    def test_an_instrument_is_defined_and_survives_the_death_of_each_process(self):
        for role in ROLES:
            self.start_role(role)
        define, opening, buy, _ = commands_of("divided-use")
        self.run_line(define)
        self.assertNotIn("no instrument", self.run_line(opening))
        self.assertIn("1 orders", self.run_line(buy))
        self.await_order()
        for role in ROLES:
            with self.subTest(killed=role):
                self.running[role].end(signal.SIGKILL)
                self.start_role(role)
                self.await_order()
        for role in ("gateway", "facility"):
            output = self.running[role].end(signal.SIGTERM)
            self.assertEqual(self.running[role].process.returncode, 0, output)
        self.assertRegex(output, r"partition EQUITY: \d+ commands, state hash [0-9a-f]{16}\n"
                                 r"partition ENERGY: \d+ commands, state hash [0-9a-f]{16}; cancelled for 0 sessions")


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=2)
