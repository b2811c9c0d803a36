# SPDX-License-Identifier: Apache-2.0
"""What the tests on a disk whose power fails share: `corro serve` on it, `corro load`, whose clients keep count, and the skip where no
file system can be mounted.

Expects the arguments CORRO SOURCE_FOLDER; CORRO_SEED says where the dice begin.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from running_exchange import CORRO, TIME_LIMIT_S, free_ports
from tearing_disk import TearingDisk

SEED = int(os.environ.get("CORRO_SEED", "20240229"))


def wait_for(what, program):
    """@return Whether it came true before the program ended."""
    end = time.monotonic() + TIME_LIMIT_S
    while not what():
        if program.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Program:
    """A running subcommand of `corro`, and its output."""

    def __init__(self, path, *arguments):
        self.path = path
        with open(path, "w", encoding="utf-8") as said:
            self.process = subprocess.Popen([CORRO, *arguments], stdout=said, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL)

    def words(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def start_venue(config, *options):
    """@return The venue, and whether it listens. It listens at one address, also when it starts again."""
    with open(config, encoding="utf-8") as file:
        text = file.read()
    if re.search(r'^listen = "(.*)"$', text, flags=re.MULTILINE)[1] == "127.0.0.1:0":
        # Not a port that the system gives out: between a kill and a start, a client's connection could take it.
        text = re.sub(r'^listen = ".*"$', f'listen = "127.0.0.1:{free_ports(1)[0]}"', text, count=1, flags=re.MULTILINE)
        with open(config, "w", encoding="utf-8") as file:
            file.write(text)
    venue = Program(os.path.join(os.path.dirname(config), "venue.said"), "serve", "--config", config, *options)
    return venue, wait_for(lambda: "Ctrl-C closes it" in venue.words(), venue.process)


def start_load(config, clients):
    """Clients that run until they are asked to end."""
    return Program(os.path.join(os.path.dirname(config), "load.said"), "load", "--config", config, "--clients", str(clients),
                   "--outstanding", "4", "--messages", "100000000", "--seconds", "1000000")


def end_load(load, is_answered):
    """@return Its exit code. Without a venue it gets two signals, because its requests will not be answered any more."""
    for _ in range(1 if is_answered else 2):
        if load.process.poll() is None:
            load.process.send_signal(signal.SIGINT)
    return load.process.wait(timeout=TIME_LIMIT_S)


def run_tests():
    try:
        with tempfile.TemporaryDirectory() as probe, TearingDisk(probe, 0):
            pass
    except OSError as error:
        print(f"skipped: no file system can be mounted here: {error}")
        sys.exit(77)
    print(f"CORRO_SEED={SEED}")
    unittest.main(argv=[sys.argv[0]], verbosity=2)
