# SPDX-License-Identifier: Apache-2.0
"""What tests of the program share: `corro` run to its end, and an exchange on free ports.

Expects the arguments CORRO SOURCE_FOLDER.
"""

import os
import random
import re
import signal
import socket
import subprocess
import sys

CORRO = sys.argv[1]
SOURCE = sys.argv[2]
TIME_LIMIT_S = 120  # generous: only a program that hangs gets here


def run(*arguments):
    return subprocess.run([CORRO, *arguments], capture_output=True, text=True, timeout=TIME_LIMIT_S,
                          stdin=subprocess.DEVNULL)


def free_ports(count):
    """Ports below those that the system gives out, so that a restarted process finds its own port free."""
    ports = []
    while len(ports) < count:
        port = random.randrange(15_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


def change_text(path, *changes):
    """Replaces texts in a file; each must be there."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def example_configuration(example):
    """An example configuration with room for fewer orders: a process that starts writes to the memory of all of them."""
    with open(os.path.join(SOURCE, "config", example), encoding="utf-8") as file:
        return file.read().replace("orders_max = 1_000_000", "orders_max = 50_000")


def demo_configuration(folder, more="", lines=(), api_keys=False):
    """The demonstration's configuration on free ports, with lines for its feed and more tables behind it. Without the keys of
    its API, unless a test wants them: the venue counts their sessions too."""
    text = re.sub(r'"127\.0\.0\.1:70(?:0[123]|1[01]|20)"', '"127.0.0.1:0"', example_configuration("demo.toml"))
    if not api_keys:
        text = re.sub(r'\n\[\[api_key\]\]\n(?:.+\n)+', "\n", text)
    if lines:
        text = text.replace("[market_data]\n", "[market_data]\nlines = [" + ", ".join(f'"{each}"' for each in lines) + "]\n")
    path = os.path.join(folder, "corro.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + more)
    return path


def serve_example(test, folder, example, more, *roles):
    """Starts processes with one of the example configurations, on free ports; they end with the test. The journal is in the
    folder. Returns the ports by those of the example, and the file."""
    text = example_configuration(example).replace("/tmp/corro-partitions", os.path.join(folder, "journal")) + more
    used = sorted(set(re.findall(r"127\.0\.0\.1:(\d+)", text)))
    ports = dict(zip(used, free_ports(len(used))))
    config = os.path.join(folder, example)
    with open(config, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda port: str(ports[port[0]]), text))
    os.chmod(config, 0o600)
    for role in roles:
        start_role(test, config, role)
    return ports, config


def start_role(test, config, role):
    """`corro serve` with the options of a role, when it serves."""
    process = subprocess.Popen([CORRO, "serve", *role, "--config", config], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    test.addCleanup(process.stdout.close)
    test.addCleanup(process.wait)
    test.addCleanup(process.kill)
    for line in process.stdout:
        if ("order entry" if "gateway" in role else "Ctrl-C") in line:
            return process
    test.fail(f"{role} ended early")
    return None


class Exchange:
    """`corro serve` on free ports; a context manager."""

    program = CORRO

    def __init__(self, folder, *options, more="", lines=(), api_keys=False):
        self.config = demo_configuration(folder, more, lines, api_keys)
        self.options = options

    def __enter__(self):
        self.process = subprocess.Popen([CORRO, "serve", "--config", self.config, *self.options], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
        self.addresses = {}
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("corro serve ended early")
            match = re.match(r" +(order entry|FIX|FIX data|feed|snapshots|depth|metrics) +(\S+)$", line.rstrip())
            if match:
                self.addresses[match[1]] = match[2]
            if match := re.match(r" +API +ws://([\d.:]+)/", line):
                self.addresses["API"] = match[1]
            if "Ctrl-C closes it" in line:
                return self

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return 1024 * int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1])

    def read_until(self, text):
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if text in line:
                return "".join(lines)
        raise AssertionError(f"corro serve ended without saying {text!r}: {''.join(lines)}")

    def close(self):
        self.process.send_signal(signal.SIGINT)
        output, _ = self.process.communicate(timeout=TIME_LIMIT_S)
        return output

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.stdout.close()
        self.process.wait()
