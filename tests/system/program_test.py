#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the program `corro` as a person would: an exchange, clients against it, views of it, and its errors.

usage: program_test.py CORRO SOURCE_FOLDER
"""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from running_exchange import CORRO, SOURCE, TIME_LIMIT_S, Exchange, demo_configuration, free_ports, run


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_answers_every_request_of_many_clients_once(self):
        with Exchange(self.folder.name) as exchange:
            load = run("load", "--config", exchange.config, "--venue", exchange.addresses["order entry"],
                       "--clients", "200", "--messages", "20000", "--outstanding", "4")
            self.assertEqual(load.returncode, 0, load.stdout + load.stderr)
            self.assertIn("answered once 20000, lost 0", load.stdout)
            self.assertIn("round trip at the client", load.stdout)
            exchange.process.send_signal(signal.SIGUSR1)
            asked = exchange.read_until("state hash")
            self.assertIn("stage 2: decoded to answered", asked)
            output = exchange.close()
            self.assertEqual(exchange.process.returncode, 0, output)
            self.assertIn("20000 requests", output)
            self.assertIn("stage 1: received to decoded", output)

    def test_serves_the_same_on_two_threads_and_on_every_backend(self):
        for options in (["--threading", "split"], ["--io", "epoll"], ["--io", "uring", "--threading", "split"]):
            with self.subTest(options=options), Exchange(self.folder.name, *options) as exchange:
                load = run("load", "--config", exchange.config, "--venue", exchange.addresses["order entry"],
                           "--clients", "50", "--messages", "10000", "--outstanding", "4")
                self.assertEqual(load.returncode, 0, load.stdout + load.stderr)
                self.assertIn("answered once 10000, lost 0", load.stdout)
                self.assertIn("10000 requests", exchange.close())
        self.assertNotEqual(run("serve", "--io", "telepathy").returncode, 0)

    @unittest.skipUnless(shutil.which("qemu-x86_64"), "qemu-x86_64 (Debian: qemu-user) is not installed")
    def test_names_the_processor_that_it_needs(self):
        def started(processor):
            return subprocess.run(["qemu-x86_64", "-cpu", processor, CORRO, "--version"], capture_output=True, text=True, timeout=TIME_LIMIT_S)

        with open(CORRO, "rb") as file:
            if re.search(rb"__[at]san_init", file.read()):
                self.skipTest("a sanitizer's memory has no place under qemu")
        newer, older = started("Haswell"), started("Nehalem")
        self.assertEqual(newer.returncode, 0, newer.stderr)
        if older.returncode != 0:  # a build for every processor runs on the old one, too
            self.assertEqual(older.returncode, 1, older.stderr)
            self.assertIn("was built for x86-64-v3", older.stderr)

    def test_starts_the_lab_beside_it(self):
        listed = run("lab", "list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("ping_pong", listed.stdout)
        # What follows is the lab's, also what begins with dashes.
        helped = run("lab", "run", "--help")
        self.assertEqual(helped.returncode, 0, helped.stderr)
        self.assertIn("--subjects", helped.stdout)
        refused = run("lab", "run", "--telepathy")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--telepathy", refused.stderr)

    def test_says_how_to_build_the_lab_where_it_is_not(self):
        alone = shutil.copy(CORRO, self.folder.name)
        ran = subprocess.run([alone, "lab", "list"], text=True, capture_output=True, timeout=TIME_LIMIT_S)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("--target corro corro-lab", ran.stderr)
        self.assertEqual(ran.stdout, "")

    def test_tells_what_it_does(self):
        log = os.path.join(self.folder.name, "log")
        more = f'[metrics]\nlisten = "127.0.0.1:0"\n[event_log]\ndirectory = "{log}"\nfile_bytes_max = 1_000_000\n'
        with Exchange(self.folder.name, more=more) as exchange:
            load = run("load", "--config", exchange.config, "--venue", exchange.addresses["order entry"],
                       "--clients", "5", "--messages", "5000")
            self.assertIn("answered once 5000, lost 0", load.stdout)
            with urllib.request.urlopen(exchange.addresses["metrics"], timeout=TIME_LIMIT_S) as page:
                text = page.read().decode()
            self.assertIn("\ncorro_requests_total 5000\n", text)
            self.assertIn("\ncorro_logons_total 5\n", text)
            self.assertIn("\ncorro_event_log_lost_total 0\n", text)
            self.assertRegex(text, r'corro_request_seconds_count\{kind="enter_order",stage="total"\} [1-9]')
            self.assertIn("5000 requests", exchange.close())
        answered = 0
        commands = []
        for name in os.listdir(log):
            if name.endswith(".csv"):
                with open(os.path.join(log, name), encoding="utf-8", newline="") as file:
                    for row in csv.DictReader(file):
                        commands.append(int(row["sequence"]))
                        answered += int(row["flags"] or 0) & 2 != 0
        # Five sessions leave orders behind, which the venue cancels at their end by a command each at most.
        self.assertGreaterEqual(answered, 5000)
        # That a session wants this, and that it is over, are commands without messages.
        silent = set(range(1, max(commands) + 1)) - set(commands)
        self.assertLessEqual(len(silent), 10)
        with open(os.path.join(log, "records.1.jsonl"), encoding="utf-8") as file:
            said = [json.loads(line) for line in file]
        self.assertEqual([one["what"] for one in said if one["component"] == "venue"], ["started", "stopped"])
        self.assertEqual(sum(one["what"] == "logged_on" for one in said), 5)

    def test_keeps_a_given_rate(self):
        with Exchange(self.folder.name) as exchange:
            load = run("load", "--config", exchange.config, "--venue", exchange.addresses["order entry"],
                       "--clients", "10", "--messages", "2000", "--rate", "4000")
            self.assertEqual(load.returncode, 0, load.stdout + load.stderr)
            self.assertIn("answered once 2000, lost 0", load.stdout)

    def test_watches_a_running_exchange(self):
        with Exchange(self.folder.name) as exchange:
            watch = run("watch", "CLF7", "--plain", "--seconds", "2", "--feed", exchange.addresses["feed"],
                        "--snapshot", exchange.addresses["snapshots"])
            self.assertEqual(watch.returncode, 0, watch.stdout + watch.stderr)
            self.assertIn("CLF7", watch.stdout)
            unknown = run("watch", "XYZ", "--plain", "--seconds", "2", "--feed", exchange.addresses["feed"],
                          "--snapshot", exchange.addresses["snapshots"])
            self.assertEqual(unknown.returncode, 1)
            self.assertIn("the venue has: ESZ6, CLF7", unknown.stderr)

    def test_says_how_to_start_an_exchange_when_there_is_none(self):
        with Exchange(self.folder.name) as exchange:
            addresses = dict(exchange.addresses)
            exchange.close()
        watch = run("watch", "--plain", "--seconds", "2", "--feed", addresses["feed"], "--snapshot",
                    addresses["snapshots"])
        self.assertEqual(watch.returncode, 1)
        self.assertIn("corro demo", watch.stderr)

    def test_says_whose_a_port_may_be_that_it_cannot_have(self):
        with Exchange(self.folder.name) as exchange:
            second = run("serve", "--config", exchange.config, "--listen", exchange.addresses["order entry"])
            self.assertEqual(second.returncode, 1)
            self.assertIn(f"order_entry.listen: cannot listen on {exchange.addresses['order entry']}", second.stderr)
            self.assertIn("perhaps an exchange that still runs", second.stderr)

    def test_watches_the_partition_that_has_the_instrument(self):
        ports = {name: str(port) for name, port in zip(("7001", "7002", "7003", "7004", "7005", "7009"), free_ports(6))}
        config = os.path.join(self.folder.name, "partitions.toml")
        with open(os.path.join(SOURCE, "config", "partitions.toml"), encoding="utf-8") as file:
            text = file.read().replace("/tmp/corro-partitions", os.path.join(self.folder.name, "journal"))
        with open(config, "w", encoding="utf-8") as file:
            file.write(re.sub(r":(700\d)", lambda m: ":" + ports[m[1]], text))
        with subprocess.Popen([CORRO, "serve", "--config", config], stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL) as exchange:
            for line in exchange.stdout:
                if "Ctrl-C closes it" in line:
                    break
            watches = {symbol: run("watch", symbol, "--plain", "--seconds", "1", "--config", config)
                       for symbol in ("ESZ6", "CLG7")}
            exchange.send_signal(signal.SIGINT)
            exchange.communicate(timeout=TIME_LIMIT_S)
        for symbol, watch in watches.items():
            self.assertEqual(watch.returncode, 0, watch.stdout + watch.stderr)
            self.assertRegex(watch.stdout, rf"(?m)^{symbol} ")

    def test_shows_a_demonstration(self):
        config = demo_configuration(self.folder.name)
        demo = run("demo", "--config", config, "--plain", "--seconds", "2")
        self.assertEqual(demo.returncode, 0, demo.stdout + demo.stderr)
        self.assertRegex(demo.stdout, r"the view saw \d+ messages and [1-9]\d* trades")
        self.assertIn("log on as    account 1 (alice)", demo.stdout)

    def test_loads_a_running_demonstration_beside_its_own_traffic(self):
        config = demo_configuration(self.folder.name)
        with subprocess.Popen([CORRO, "demo", "--config", config, "--plain"], stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL) as demo:
            address = None
            for line in demo.stdout:
                match = re.match(r"order entry +(\S+)", line)
                if match:
                    address = match[1]
                if "messages/s" in line:
                    break
            self.assertIsNotNone(address)
            load = run("load", "--config", config, "--venue", address, "--clients", "100", "--messages", "5000")
            demo.send_signal(signal.SIGINT)
            demo.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual(load.returncode, 0, load.stdout + load.stderr)
        self.assertIn("answered once 5000, lost 0", load.stdout)

    def test_says_so_when_not_every_client_can_log_on(self):
        with Exchange(self.folder.name) as exchange:
            with open(exchange.config, encoding="utf-8") as file:
                text = file.read()
            other = os.path.join(self.folder.name, "other.toml")
            with open(other, "w", encoding="utf-8") as file:
                file.write(re.sub(r'^key = "(.)', lambda m: 'key = "' + ("1" if m[1] == "0" else "0"), text,
                                  flags=re.MULTILINE))
            load = run("load", "--config", other, "--venue", exchange.addresses["order entry"], "--clients", "2")
            self.assertEqual(load.returncode, 1, load.stdout)
            self.assertIn(f"logon failed at {exchange.addresses['order entry']}", load.stderr)
            self.assertIn("no request was sent", load.stderr)
            self.assertIn("use the venue's configuration", load.stderr)
            self.assertNotIn("answered per second", load.stdout)

    def test_ends_a_load_although_the_venue_answers_no_more(self):
        with Exchange(self.folder.name) as exchange:
            with subprocess.Popen([CORRO, "load", "--config", exchange.config, "--venue", exchange.addresses["order entry"],
                                   "--messages", "1000000000", "--seconds", "3"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as load:
                while "10 of 10 clients logged on" not in load.stderr.readline():
                    self.assertIsNone(load.poll())
                exchange.process.send_signal(signal.SIGSTOP)
                try:
                    output, errors = load.communicate(timeout=TIME_LIMIT_S)
                finally:
                    exchange.process.send_signal(signal.SIGCONT)
            self.assertEqual(load.returncode, 1, output + errors)
            self.assertIn("the venue does not answer the requests in progress", errors)
            self.assertRegex(output, r"answered once \d+, lost [1-9]\d*, ")

    def test_ends_a_demonstration_on_ctrl_c_with_its_tables(self):
        config = demo_configuration(self.folder.name)
        with subprocess.Popen([CORRO, "demo", "--config", config], stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL) as demo:
            for line in demo.stdout:
                if "messages/s" in line:
                    break
            demo.send_signal(signal.SIGINT)
            output, _ = demo.communicate(timeout=TIME_LIMIT_S)
            self.assertEqual(demo.returncode, 0, output)
            self.assertIn("total (microseconds)", output)

    def test_names_key_and_line_of_a_bad_configuration(self):
        path = demo_configuration(self.folder.name)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        number = next(i for i, line in enumerate(lines) if line.startswith("orders_max"))
        lines[number] = 'orders_max = "many"'
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        serve = run("serve", "--config", path)
        self.assertEqual(serve.returncode, 1)
        self.assertIn(f"{path}:{number + 1}: venue.orders_max: expected a whole number", serve.stderr)
        missing = run("serve", "--config", os.path.join(self.folder.name, "none.toml"))
        self.assertEqual(missing.returncode, 1)
        self.assertIn("none.toml", missing.stderr)
        folder = run("serve", "--config", self.folder.name)
        self.assertEqual(folder.returncode, 1)
        self.assertIn("is a directory", folder.stderr)

    def test_explains_itself(self):
        for arguments in (["--help"], ["serve", "--help"], ["load", "--help"], ["watch", "--help"], ["demo", "--help"]):
            self.assertEqual(run(*arguments).returncode, 0, arguments)
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("serve", "--no-such-option").returncode, 2)

    def test_the_script_lists_the_options_of_the_demonstration_and_refuses_others_at_once(self):
        script = os.path.join(SOURCE, "run")
        helped = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=TIME_LIMIT_S)
        self.assertEqual(helped.returncode, 0)
        of_program = set(re.findall(r"(?m)^ +(?:-\w,)?(--\w[\w-]+)", run("demo", "--help").stdout)) - {"--help"}
        of_script = set(re.findall(r"(?m)^  (?:-\w, )?(--\w[\w-]+)", helped.stdout))
        self.assertEqual(of_program, of_script)
        for wrong, sentence in ((["--rte", "5"], "unknown argument: --rte"), (["--rate"], "--rate needs a value")):
            refused = subprocess.run([script, *wrong], capture_output=True, text=True, timeout=TIME_LIMIT_S)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertTrue(refused.stderr.endswith(f"error: {sentence}\n"), refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
