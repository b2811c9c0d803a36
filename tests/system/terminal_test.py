#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program shows on terminals: small and large ones, without colours, unknown ones, and ones that change their size.

usage: terminal_test.py CORRO SOURCE_FOLDER
"""

import re
import shutil
import sys
import tempfile
import unittest

from running_exchange import Exchange, demo_configuration
from terminal import Terminal

COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|4[0-7]|[34]8;)[0-9;]*m")
LEVEL_OF_BID = r" *\d+ +[# ]+ *\d+\.\d\d"
TRADE = r"\d\d:\d\d:\d\d(?:\.\d{3})?  (?:buy |sell) +\d+ +\d+\.\d\d"


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class OnTerminals(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def demo(self, size, environment=None):
        return Terminal(self.folder.name, ["demo", "--config", demo_configuration(self.folder.name)], size, environment)

    def check_market(self, shown, columns):
        """Ladder and tape side by side, each column with its heading, and no line cut at the edge."""
        lines = shown.splitlines()
        self.assertTrue(all(len(line) <= columns for line in lines))
        self.assertRegex(shown, r"instrument +bid units +bid +ask +ask units +last +volume")
        self.assertRegex(shown, r"bid units +price +ask units +time UTC +side +units +price")
        heading = next(index for index, line in enumerate(lines) if "time UTC" in line)
        tape_begins = lines[heading].index("time UTC")
        ladder = [line[:tape_begins] for line in lines[heading + 1:-1]]
        tape = [line[tape_begins:] for line in lines[heading + 1:-1]]
        self.assertGreaterEqual(sum(bool(re.search(r"\d+\.\d\d", line)) for line in ladder), 6, shown)
        self.assertGreaterEqual(sum(bool(re.match(TRADE, line)) for line in tape), 3, shown)
        self.assertIn("? keys", lines[-1])
        self.assertIn("q leaves", lines[-1])

    def test_ladder_and_tape_are_both_there_at_80_columns_and_24_rows(self):
        with self.demo((80, 24)) as demo:
            demo.wait_for(rf"(?s)(?:{TRADE}.*){{5}}")
            self.check_market(demo.screen(), 80)
            demo.type("q")
            ended = demo.wait_for("left with 0")
            # The tables at the end are wider than this terminal: they continue below.
            self.assertRegex(ended, r"(?m)^request(?: +P[\d.]+)* +max$")

    def test_the_picture_follows_a_terminal_that_changes_its_size(self):
        with self.demo((80, 24)) as demo:
            demo.wait_for(rf"(?s)(?:{TRADE}.*){{5}}")
            self.assertNotRegex(demo.screen(), r"\d\d:\d\d:\d\d\.\d{3}")
            demo.resize(120, 40)
            demo.wait_for(r"\d\d:\d\d:\d\d\.\d{3}")
            self.check_market(demo.screen(), 120)
            demo.resize(80, 24)
            demo.wait_for(r"\d\d:\d\d:\d\d  (?:buy|sell)")
            self.check_market(demo.screen(), 80)
            # No room for both: the ladder stays.
            demo.resize(50, 20)
            demo.wait_for(r"(?m)\A(?:(?!time UTC)[\s\S])*bid units +price +ask units(?:(?!time UTC)[\s\S])*\Z")

    def test_keys_and_addresses_are_a_key_away(self):
        with self.demo((80, 24)) as demo:
            demo.wait_for("d addresses")
            demo.type("d")
            shown = demo.wait_for("any key closes this page")
            self.assertRegex(shown, r"order entry  127\.0\.0\.1:\d+")
            self.assertIn("account 1 (alice)", shown)
            # The key of 64 digits is on the next line, whole.
            self.assertRegex(shown, r"(?m)^3c2ab6291091e38af2a3683333a6e0ccf1e3b6d53a46e5fcbd9062eaa690b5b1$")
            demo.type("x")
            demo.wait_for("time UTC")
            demo.type("?")
            shown = demo.wait_for("any key closes this page")
            for line in ("1 to 9 ", "q, Ctrl-C ", "d  "):
                self.assertRegex(shown, rf"(?m)^{line}")
            demo.type("q")
            demo.wait_for("time UTC")
            demo.type("q")
            demo.wait_for("left with 0")

    def test_bars_have_colours_and_without_colours_characters(self):
        with self.demo((80, 24)) as demo:
            demo.wait_for(rf"(?s)(?:{TRADE}.*){{3}}")
            self.assertRegex(demo.screen("-e"), COLOUR)
            self.assertNotIn("###", demo.screen())
        for environment in ({"NO_COLOR": "1"}, {"TERM": "vt100"}):
            with self.subTest(environment=environment), self.demo((80, 24), environment) as demo:
                demo.wait_for(rf"(?s)(?:{TRADE}.*){{3}}")
                demo.wait_for("###")
                self.assertNotRegex(demo.screen("-e"), COLOUR)
                self.check_market(demo.screen(), 80)
        with self.demo((80, 24), {"NO_COLOR": ""}) as demo:  # empty: as if it were not set
            demo.wait_for(rf"(?s)(?:{TRADE}.*){{3}}")
            self.assertRegex(demo.screen("-e"), COLOUR)

    def test_falls_back_to_lines_and_says_why(self):
        for environment, why in (({"TERM": "nosuchterm"}, 'this machine does not know the terminal "nosuchterm"'),
                                 ({"TERM": "dumb"}, 'the terminal "dumb" cannot|the terminal is "dumb"'),
                                 ({"TERM": ""}, "the environment variable TERM is not set")):
            with self.subTest(environment=environment), self.demo((120, 40), environment) as demo:
                shown = demo.wait_for("messages/s")
                self.assertRegex(shown, rf"corro demo: (?:{why}).*; printing lines instead")

    def test_gaps_between_prices_show(self):
        orders = ["buy 1 ESZ6 5990", "buy 1 ESZ6 5989.75", "buy 1 ESZ6 5988", "sell 1 ESZ6 5991", "sell 1 ESZ6 5991.50"]
        with Exchange(self.folder.name) as exchange:
            arguments = ["client", "--config", exchange.config, "--account", "alice", "--venue", exchange.addresses["order entry"],
                         "--feed", exchange.addresses["feed"], "--snapshot", exchange.addresses["snapshots"]]
            with Terminal(self.folder.name, arguments, (80, 40)) as alice:
                alice.wait_for(r"alice .* connected")
                for order in orders:
                    alice.type(order, "Enter")
                shown = alice.wait_for(r"(?m)5991\.50 +1$")
                ladder = [re.sub(r"#|\s", " ", line[:46]).split() for line in shown.splitlines()[4:12]]
                prices = [" ".join(word for word in line if re.search(r"\.|empty|\(", word)) for line in ladder]
                self.assertEqual(prices[:8], ["5991.50", "5991.25", "5991.00", "(3 empty)", "5990.00", "5989.75", "(6 empty)",
                                              "5988.00"], shown)

    def test_a_desk_at_80_columns_shows_market_orders_and_what_they_wait_for(self):
        with Exchange(self.folder.name) as exchange:
            arguments = ["client", "--config", exchange.config, "--account", "alice", "--venue", exchange.addresses["order entry"],
                         "--feed", exchange.addresses["feed"], "--snapshot", exchange.addresses["snapshots"]]
            with Terminal(self.folder.name, arguments, (80, 24)) as alice:
                alice.wait_for(r"alice .* connected")
                alice.type("buy 2 ESZ6 market stop 6010", "Enter")
                alice.wait_for(r"#1 open buy 2 ESZ6 market, waits for a trade at 6010\.00")
                alice.type("sell 30 ESZ6 6001 show 10", "Enter")
                alice.wait_for(r"#2 open sell 30 ESZ6 @ 6001\.00, shows 10")
                alice.type("buy 1 ESZ6 7000", "Enter")
                alice.wait_for(r"#3 refused: the price 7000\.00 is above the upper band 6500\.00\s+\(price_outside_band\)")
                alice.type("buy 1 ESZ6 6001 self newest", "Enter")
                alice.wait_for(r"#4 refused: the order would have traded with one of its own account")
                alice.type("buy 3 ESZ6 6001", "Enter")
                alice.wait_for(r"#5 bought 3 ESZ6 @ 6001\.00")
                alice.type("cancel 5", "Enter")
                alice.wait_for(r"#5 refused: the order is filled \(")
                alice.type("positions", "Enter")
                alice.wait_for(r"ESZ6 \+0, 6 traded, realised \+0\.00")
                alice.type("help buy", "Enter")
                shown = alice.wait_for("any key closes this page")
                self.assertIn("decrementing both.", shown.replace("\n", " "))
                alice.type("x")
                alice.wait_for("your orders")
                alice.type("?")
                alice.wait_for("(?s)cancel all own orders.*any key closes this page")
                alice.type("x")
                alice.wait_for("your orders")
                alice.type("exit", "Enter")
                alice.wait_for("left with 0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
