#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every wrong use of the program in the table below ends with this exit status and exactly this message.

usage: errors_test.py CORRO SOURCE_FOLDER
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from running_exchange import CORRO, SOURCE, TIME_LIMIT_S, Exchange, free_ports, run

SOUND = """[venue]
name = "TEST"
keys = "public"

[order_entry]
listen = "127.0.0.1:0"

[market_data]
feed_listen = "127.0.0.1:0"
snapshot_listen = "127.0.0.1:0"

[[instrument]]
id = 1
symbol = "ESZ6"
tick_size = "0.25"
price_low = "5500"
price_high = "6500"

[[account]]
id = 1
name = "alice"
key = "3c2ab6291091e38af2a3683333a6e0ccf1e3b6d53a46e5fcbd9062eaa690b5b1"
sessions = 2
"""

USAGE = 2
FAILED = 1

# The command line: (arguments, exit status, standard error). In both texts DIR is the folder of the test, and a line
# that begins with "Run " is left out of the second one; see `test_names_the_help_of_the_subcommand`.
COMMAND_LINES = [
    ("", USAGE, "corro: a subcommand is missing; subcommands: SUBCOMMANDS"),
    ("serv", USAGE, 'corro: unknown subcommand "serv"; did you mean "serve"?'),
    ("sevre", USAGE, 'corro: unknown subcommand "sevre"; did you mean "serve"?'),
    ("wacth", USAGE, 'corro: unknown subcommand "wacth"; did you mean "watch"?'),
    ("Load", USAGE, 'corro: unknown subcommand "Load"; did you mean "load"?'),
    ("telepathy", USAGE, 'corro: unknown subcommand "telepathy"; subcommands: SUBCOMMANDS'),
    ("--versoin", USAGE, 'corro: unknown option "--versoin"; did you mean "--version"?'),
    ("--colour", USAGE, 'corro: unknown option "--colour"'),
    ("journal", USAGE, "corro journal: a subcommand is missing; subcommands: verify, dump, stat, adopt, index, backup"),
    ("journal verfy DIR", USAGE, 'corro journal: unknown subcommand "verfy"; did you mean "verify"?'),
    ("journal verify", USAGE, "corro journal verify: directory is required"),
    ("serve --confg x", USAGE, 'corro serve: unknown option "--confg"; did you mean "--config"?'),
    ("serve now", USAGE, 'corro serve: unexpected argument "now"'),
    ("serve --config", USAGE, "corro serve: --config needs a value"),
    ("serve --io telepathy", USAGE,
     'corro serve: --io: expected one of: IO, found "telepathy"'),
    ("serve --threading spilt", USAGE,
     'corro serve: --threading: expected one of: inline, split, found "spilt"; did you mean "split"?'),
    ("serve --role gatway", USAGE,
     'corro serve: --role: expected one of: all, facility, gateway, distributor, api, found "gatway"; did you mean "gateway"?'),
    ("serve --sample-every -1", USAGE,
     'corro serve: --sample-every: expected a whole number from 0 to 4294967295, found "-1"'),
    ("load --messages -5", USAGE,
     'corro load: --messages: expected a whole number from 0 to 18446744073709551615, found "-5"'),
    ("load --messages 0", USAGE, "corro load: --messages: expected a number from 1 to 1000000000000, found 0"),
    ("load --messages many", USAGE,
     'corro load: --messages: expected a whole number from 0 to 18446744073709551615, found "many"'),
    ("load --seed -1", USAGE, 'corro load: --seed: expected a whole number from 0 to 18446744073709551615, found "-1"'),
    ("load --new -1", USAGE, 'corro load: --new: expected a whole number from 0 to 4294967295, found "-1"'),
    ("load --new 101", USAGE, "corro load: --new: expected a number from 0 to 100, found 101"),
    ("load --cancel 120", USAGE, "corro load: --cancel: expected a number from 0 to 100, found 120"),
    ("load --market 200", USAGE, "corro load: --market: expected a number from 0 to 100, found 200"),
    ("load --new 80 --cancel 40", FAILED,
     "corro: --new 80 and --cancel 40 are 120 percent together; they may be at most 100"),
    ("load --clients 0", USAGE, "corro load: --clients: expected a number from 1 to 10000, found 0"),
    ("load --clients 1.5", USAGE, 'corro load: --clients: expected a whole number from 0 to 4294967295, found "1.5"'),
    ("load --outstanding 513", USAGE, "corro load: --outstanding: expected a number from 1 to 512, found 513"),
    ("load --rate -1", USAGE, "corro load: --rate: expected 0 or more, found -1"),
    ("load --rate fast", USAGE, 'corro load: --rate: expected a number, found "fast"'),
    ("load --rate nan", USAGE, 'corro load: --rate: expected a number, found "nan"'),
    ("load --seconds 0", USAGE, "corro load: --seconds: expected more than 0, found 0"),
    ("load --wait -1", USAGE, "corro load: --wait: expected a number from 0 to 1000000000, found -1"),
    ("load --patience -1", USAGE, "corro load: --patience: expected a number from 0 to 1000000000, found -1"),
    ("load --trust x", USAGE, "corro load: --trust requires --tls"),
    ("watch --seconds -1", USAGE, "corro watch: --seconds: expected 0 or more, found -1"),
    ("watch --wait -1", USAGE, "corro watch: --wait: expected 0 or more, found -1"),
    ("watch --feed 127.0.0.1:70002", FAILED, 'corro: "127.0.0.1:70002" has port 70002; the highest port is 65535'),
    ("watch --feed localhost:7002", FAILED,
     'corro: "localhost" is a name; write its numeric address, such as "127.0.0.1:7001"'),
    ("watch --snapshot 127.0.0.1", FAILED,
     'corro: "127.0.0.1" has no port; write it after a colon, such as "127.0.0.1:7001"'),
    ("demo --rate 200001", USAGE, "corro demo: --rate: expected a number from 0 to 200000, found 200001"),
    ("demo --seconds -3", USAGE, "corro demo: --seconds: expected 0 or more, found -3"),
    ("demo --config DIR/none.toml", FAILED,
     "corro: DIR/none.toml: no such file; name one with --config FILE. config/demo.toml is an example"),
    ("client --session -1", USAGE, 'corro client: --session: expected a whole number from 0 to 4294967295, found "-1"'),
    ("client --session 0", USAGE, "corro client: --session: expected a number from 1 to 1000000, found 0"),
    ("client --wait soon", USAGE, 'corro client: --wait: expected a number, found "soon"'),
    ("client --store x", USAGE, "corro client: --store requires --fix"),
    ("client --config DIR/sound.toml --account carol", FAILED,
     'corro: DIR/sound.toml has no account "carol"; it has: alice'),
    ("client --config DIR/sound.toml --session 3", FAILED,
     'corro: account "alice" has the sessions 1 to 2 in DIR/sound.toml; it has no session 3'),
    ("client --config DIR/sound.toml", FAILED,
     "corro: order_entry.listen of DIR/sound.toml leaves the port to the system: give the venue's address with --venue"),
    ("client --config DIR/sound.toml --venue 127.0.0.1:70001", FAILED,
     'corro: "127.0.0.1:70001" has port 70001; the highest port is 65535'),
    ("load --config DIR/sound.toml --clients 3 --venue 127.0.0.1:1", FAILED,
     "corro: DIR/sound.toml: the accounts have only 2 sessions for 3 clients; raise account.sessions"),
    ("serve --config DIR/none.toml", FAILED,
     "corro: DIR/none.toml: no such file; name one with --config FILE. config/demo.toml is an example"),
    ("serve --config DIR", FAILED, "corro: DIR: is a directory; name a file with --config FILE"),
    ("serve --config DIR/sound.toml --role gateway", FAILED,
     "corro: DIR/sound.toml: link.connect: a gateway needs the address of its facility; add [link] with listen, or with connect"),
    ("serve --config DIR/sound.toml --role facility", FAILED,
     'corro: DIR/sound.toml: link.listen: a facility needs an address for its gateways; add [link] with listen = "venue.link"'),
    ("serve --config DIR/sound.toml --role distributor", FAILED,
     "corro: a distributor needs its venue's ports: --venue-feed ADDRESS and --venue-snapshots ADDRESS"),
    ("replay DIR/none.dbn", FAILED, "corro: DIR/none.dbn: No such file or directory"),
    ("replay DIR/sound.toml --speed 0", USAGE, "corro replay: --speed: expected more than 0, found 0"),
    ("replay DIR/sound.toml --format dnb", USAGE,
     'corro replay: --format: expected one of: auto, dbn, lobster, itch, found "dnb"; did you mean "dbn"?'),
    ("replay SOURCE/src/recorded/testdata/mini.v2.mbo.dbn --opening auction --config DIR/sound.toml", FAILED,
     '12 records; replaying them on DIR/sound.toml\ncorro: DIR/sound.toml: account "alice" is not an operator, and only '
     "operators change phases: the recording begins before an opening auction. Set operator = true, or choose another "
     "account with --account"),
    ("replay", USAGE, "corro replay: files is required"),
    ("book --config DIR/sound.toml --journal DIR/none", USAGE,
     'corro book: --journal: there is no directory "DIR/none"'),
    ("book --config DIR/sound.toml --journal DIR/sound.toml", USAGE,
     'corro book: --journal: "DIR/sound.toml" is a file, not a directory'),
    ("book --config DIR/sound.toml --journal DIR --at 1", FAILED, "corro: DIR: holds no journal"),
    ("book --config DIR/sound.toml --at 1", FAILED,
     "corro: DIR/sound.toml keeps no journal (facility.journal); give one with --journal"),
    ("book --config DIR/none.toml --journal DIR", USAGE, 'corro book: --config: there is no file "DIR/none.toml"'),
    ("book --config DIR --journal DIR", USAGE, 'corro book: --config: "DIR" is a directory, not a file'),
    ("book --config DIR/sound.toml --journal DIR --at midnight", FAILED,
     'corro: --at: "midnight": expected a sequence number, or a time such as 2026-11-22T09:30:00.123456789Z'),
    ("book --journal DIR", USAGE, "corro book: --config is required"),
    ("export --config DIR/sound.toml --depth 201 DIR/out", USAGE,
     "corro export: --depth: expected a number from 1 to 200, found 201"),
    ("generate --config DIR/sound.toml", USAGE, "corro generate: directory is required"),
    ("generate --config DIR/sound.toml --commands 0 DIR/made", USAGE,
     "corro generate: --commands: expected a number from 1 to 1000000000, found 0"),
    ("generate --config DIR/sound.toml DIR", FAILED,
     "corro: DIR: is not empty; name a directory that does not exist"),
    ("journal dump DIR --from -1", USAGE,
     'corro journal dump: --from: expected a whole number from 0 to 18446744073709551615, found "-1"'),
    ("journal index --config DIR/sound.toml --journal DIR --every 5", USAGE,
     "corro journal index: --every: expected a number from 100 to 1000000000, found 5"),
]

# Changes of the sound configuration: (text, its replacement, the message of `corro serve`).
CONFIGURATIONS = [
    ('symbol = "ESZ6"', 'symbl = "ESZ6"', 'FILE:14: instrument.symbl: is not a key of this table; did you mean "symbol"?'),
    ("sessions = 2", "session = 2", 'FILE:23: account.session: is not a key of this table; did you mean "sessions"?'),
    ("[order_entry]", "[order_entri]", 'FILE:5: order_entri: is not a key of this table; did you mean "order_entry"?'),
    ("[[account]]", "[[acount]]", 'FILE:19: acount: is not a key of this table; did you mean "account"?'),
    ('keys = "public"', "colour = 1",
     "FILE:3: venue.colour: is not a key of this table; known keys: account_open_orders_max, accounts_max, "
     "clock_ahead_max_s, clock_slew_ppm, instruments_reserved, keys, name, orders_max, sessions_reserved, "
     "timing_sample_every"),
    ('name = "TEST"', "orders_max = 0", "FILE:2: venue.orders_max: expected a number from 1 to 100000000, found 0"),
    ('name = "TEST"', "orders_max = -7", "FILE:2: venue.orders_max: expected a number from 1 to 100000000, found -7"),
    ('name = "TEST"', 'name = "MUCH TOO LONG"', "FILE:2: venue.name: expected 1 to 10 characters"),
    ('name = "TEST"', "name = TEST", "FILE:2: not TOML: "),
    ('listen = "127.0.0.1:0"\n\n[market', 'listen = "127.0.0.1:70001"\n\n[market',
     'FILE:6: order_entry.listen: "127.0.0.1:70001" has port 70001; the highest port is 65535'),
    ('listen = "127.0.0.1:0"\n\n[market', 'listen = "localhost:7001"\n\n[market',
     'FILE:6: order_entry.listen: "localhost" is a name; write its numeric address, such as "127.0.0.1:7001"'),
    ('listen = "127.0.0.1:0"\n\n[market', 'listen = "127.0.0.1"\n\n[market',
     'FILE:6: order_entry.listen: "127.0.0.1" has no port; write it after a colon, such as "127.0.0.1:7001"'),
    ('snapshot_listen = "127.0.0.1:0"', 'snapshot_listen = 7003', "FILE:10: market_data.snapshot_listen: expected a text in quotes"),
    ('snapshot_listen = "127.0.0.1:0"', 'depth_listen = "[::1]:65536"',
     'FILE:10: market_data.depth_listen: "[::1]:65536" has port 65536; the highest port is 65535'),
    ('snapshot_listen = "127.0.0.1:0"', 'lines = ["239.1.1.1"]',
     'FILE:10: market_data.lines: "239.1.1.1" has no port; write it after a colon, such as "127.0.0.1:7001"'),
    ('tick_size = "0.25"', 'tick_size = "-0.25"', "FILE:15: instrument.tick_size: expected a positive decimal"),
    ('tick_size = "0.25"\n', "", "FILE:12: instrument.tick_size: is missing"),
    ('price_low = "5500"', 'price_low = "5500.1"',
     "FILE:16: instrument.price_low: is not a price of this instrument: price_off_tick"),
    ("sessions = 2", "sessions = 0", "FILE:23: account.sessions: expected a number from 1 to 1048576, found 0"),
    ('key = "3c2ab', 'key = "xyz', "FILE:22: account.key: expected 64 hexadecimal digits"),
    ("id = 1\nname", "id = 0\nname", "FILE:20: account.id: expected a number from 1 to 1000000, found 0"),
]


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.sound = os.path.join(cls.folder.name, "sound.toml")
        with open(cls.sound, "w", encoding="utf-8") as file:
            file.write(SOUND)
        help_text = run("--help").stdout
        listed = help_text.split("Subcommands:\n")[1].split("\n\n")[0]
        cls.subcommands = ", ".join(line.split()[0] for line in listed.splitlines()
                                    if line.startswith("  ") and not line.startswith("   "))
        io = run("serve", "--help").stdout.split("--io ")[1]
        cls.io = ", ".join(io[io.index("{") + 1:io.index("}")].split(","))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def expected(self, text):
        return text.replace("DIR", self.folder.name).replace("SUBCOMMANDS", self.subcommands).replace("IO,", self.io + ",")

    def test_the_table_is_as_long_as_it_should_be(self):
        self.assertGreaterEqual(len(COMMAND_LINES) + len(CONFIGURATIONS), 80)

    def test_wrong_command_lines(self):
        for arguments, status, message in COMMAND_LINES:
            with self.subTest(arguments=arguments):
                done = run(*arguments.replace("DIR", self.folder.name).replace("SOURCE", SOURCE).split())
                said = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("Run "))
                self.assertEqual((done.returncode, said, done.stdout), (status, self.expected(message) + "\n", ""))

    def test_names_the_help_of_the_subcommand(self):
        self.assertTrue(run("serve", "now").stderr.endswith("\nRun corro serve --help for help.\n"))
        self.assertTrue(run("serv").stderr.endswith("\nRun corro --help for help.\n"))
        self.assertTrue(run("journal", "dump").stderr.endswith("\nRun corro journal dump --help for help.\n"))

    def test_wrong_configurations(self):
        for index, (old, new, message) in enumerate(CONFIGURATIONS):
            with self.subTest(new=new):
                self.assertIn(old, SOUND)
                path = os.path.join(self.folder.name, f"wrong{index}.toml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(SOUND.replace(old, new, 1))
                done = run("serve", "--config", path)
                said = done.stderr.rstrip("\n")
                if message.endswith(": "):  # the parser's own words follow
                    said = said[:len("corro: " + message) + len(path) - len("FILE")]
                self.assertEqual((done.returncode, said, done.stdout), (FAILED, "corro: " + message.replace("FILE", path), ""))

    def test_errors_at_the_start_have_file_and_line_too(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for line, old, key in ((6, 'listen = "127.0.0.1:0"\n\n[market', "order_entry.listen"),
                                   (9, 'feed_listen = "127.0.0.1:0"', "market_data.feed_listen"),
                                   (10, 'snapshot_listen = "127.0.0.1:0"', "market_data.snapshot_listen")):
                with self.subTest(key=key):
                    path = os.path.join(self.folder.name, "taken.toml")
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(SOUND.replace(old, old.replace(":0", f":{port}"), 1))
                    done = run("serve", "--config", path)
                    self.assertEqual(done.returncode, FAILED)
                    self.assertEqual(done.stderr.splitlines()[0], f"corro: {path}:{line}: {key}: cannot listen on "
                                     f"127.0.0.1:{port}: Address already in use")

    def test_an_address_that_is_free_in_a_moment_is_waited_for(self):
        """As after a kill: Linux closes the sockets of an io_uring later than the process ends."""
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            path = os.path.join(self.folder.name, "soon.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(SOUND.replace('listen = "127.0.0.1:0"', f'listen = "127.0.0.1:{taken.getsockname()[1]}"', 1))
            with subprocess.Popen([CORRO, "serve", "--config", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as venue:
                time.sleep(0.5)
                taken.close()
                said = []
                for line in venue.stdout:
                    said.append(line)
                    if "Ctrl-C closes it" in line:
                        venue.terminate()
                self.assertIn("Ctrl-C closes it", "".join(said))
                self.assertEqual(venue.wait(timeout=TIME_LIMIT_S), 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become a user who may not read the file")
    def test_no_permission_is_not_no_such_file(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = os.path.join(folder, "secret.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(SOUND)
            os.chmod(path, 0o600)
            copy = os.path.join(folder, "corro")
            subprocess.run(["cp", CORRO, copy], check=True)
            for subcommand in ("serve", "load", "client"):
                done = subprocess.run([copy, subcommand, "--config", path], capture_output=True, text=True,
                                      timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL, user=65534, cwd=folder)
                self.assertEqual((done.returncode, done.stderr),
                                 (FAILED, f"corro: {path}: permission denied; this user may not read the file\n"))

    def test_a_refused_connection_has_its_address(self):
        with Exchange(self.folder.name) as exchange:
            entry, feed, snapshots = (exchange.addresses[name] for name in ("order entry", "feed", "snapshots"))
            exchange.close()
        watch = run("watch", "--plain", "--feed", feed, "--snapshot", snapshots)
        self.assertEqual((watch.returncode, watch.stderr),
                         (FAILED, f"corro watch: cannot join the feed {feed} with the snapshots {snapshots}: "
                                  "Connection refused\nIs the exchange running? Start one with: corro demo\n"))
        client = run("client", "--plain", "--config", exchange.config, "--venue", entry, "--feed", feed, "--snapshot", snapshots)
        self.assertEqual((client.returncode, client.stderr),
                         (FAILED, f"corro client: {entry}: Connection refused\n"
                                  "Is the exchange running? Start it with: corro serve --config FILE\n"))
        load = run("load", "--config", exchange.config, "--venue", entry)
        self.assertEqual((load.returncode, load.stderr),
                         (FAILED, f"error: client 0: logon failed at {entry}: Connection refused\n"
                                  f"no request was sent: 0 of 10 clients could log on at {entry}\n"
                                  "Is the exchange running? Start it with: corro serve --config FILE\n"))

    def test_waits_for_a_venue_that_is_starting(self):
        entry, feed, snapshots = (f"127.0.0.1:{port}" for port in free_ports(3))
        path = os.path.join(self.folder.name, "later.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SOUND.replace("127.0.0.1:0", entry, 1).replace("127.0.0.1:0", feed, 1).replace("127.0.0.1:0", snapshots, 1))
        waiting = {
            "load": ["load", "--config", path, "--clients", "1", "--messages", "100", "--wait", "60"],
            "watch": ["watch", "--plain", "--feed", feed, "--snapshot", snapshots, "--wait", "60", "--seconds", "1"],
            "client": ["client", "--plain", "--config", path, "--session", "2", "--wait", "60"],
        }
        started = {name: subprocess.Popen([CORRO, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, text=True) for name, arguments in waiting.items()}
        try:
            refused = run("load", "--config", path, "--clients", "1", "--wait", "0.3")
            self.assertEqual(refused.returncode, FAILED)
            for process in started.values():
                self.assertIsNone(process.poll())
            with subprocess.Popen([CORRO, "serve", "--config", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, stdin=subprocess.DEVNULL) as serve:
                said = {"client": started["client"].communicate("quit\n", timeout=TIME_LIMIT_S)[0]}
                for name in ("load", "watch"):
                    said[name] = started[name].communicate(timeout=TIME_LIMIT_S)[0]
                serve.terminate()
                serve.communicate(timeout=TIME_LIMIT_S)
        finally:
            for process in started.values():
                if process.poll() is None:
                    process.kill()
                    process.communicate()
        for name, process in started.items():
            self.assertEqual(process.returncode, 0, said[name])
        self.assertIn("answered once 100, lost 0", said["load"])
        self.assertIn("logged on: account 1, session 2", said["client"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
