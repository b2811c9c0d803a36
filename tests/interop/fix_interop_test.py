#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Order entry by FIX with a client by QuickFIX, whose process or whose venue is killed in the middle; market data by FIX.

usage: fix_interop_test.py CORRO SOURCE_FOLDER CLIENT

CLIENT is the program quickfix_client; without it (an empty argument) the test is skipped. CORRO_QUICKFIX_SPEC names a
folder with QuickFIX's own data dictionaries (FIX42.xml, FIX44.xml, FIX50SP2.xml, FIXT11.xml), which are not in Debian's
package; without it QuickFIX checks the venue's messages by those of dictionaries.py.
"""

import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(sys.argv[2], "tests", "system"))

import dictionaries  # noqa: E402
import fix_order_entry_test  # noqa: E402
from running_exchange import SOURCE, TIME_LIMIT_S, Exchange, change_text, free_ports  # noqa: E402

CLIENT = sys.argv[3]
SPREAD = """
[[instrument]]
id = 10
symbol = "ESZ6-CLF7"
product = 1
kind = "spread"
tick_size = "0.25"
price_low = "-1000"
price_high = "6500"
legs = [{ instrument = 1, side = "buy" }, { instrument = 2, side = "sell", ratio = 3 }]
"""
ACCOUNTS = {"ALICE": "alice", "BOB": "bob"}
REPLACE, CANCEL, SPECIAL = 1_000_000, 2_000_000, 3_000_000  # ClOrdIDs of the requests that are no orders of the crowd
TOO_LONG = 64 * "x"  # for a ClOrdID
UUID = "6ba7b810-9dad-11d1-80b4-00c04fd430c"


def key_of(name):
    """The key that the demonstration prints for an account."""
    with open(os.path.join(SOURCE, "config", "demo.toml"), encoding="utf-8") as file:
        return file.read().split(f'name = "{name}"\nkey = "')[1].split('"')[0]


def dictionary(version, folder):
    given = os.environ.get("CORRO_QUICKFIX_SPEC")
    return os.path.join(given, version.replace(".", "") + ".xml") if given else dictionaries.write(version, folder)


def version_settings(version, folder):
    path = dictionary(version, folder)
    if not version.startswith("FIX.5.0"):
        return f"BeginString={version}\nDataDictionary={path}\n"
    return (f"BeginString=FIXT.1.1\nDefaultApplVerID={version}\nAppDataDictionary={path}\n"
            f"TransportDataDictionary={dictionary('FIXT.1.1', folder)}\n")


def request(sender, kind, name, **fields):
    tags = {"11": name, "55": "ESZ6", "60": "20260102-12:00:00", **{tag[1:]: value for tag, value in fields.items()}}
    return f"{sender} {kind} " + "|".join(f"{tag}={value}" for tag, value in tags.items() if value is not None)


def crowd(count):
    """Orders of both sessions around one price, of which some trade, are replaced, or are cancelled."""
    random.seed(7)
    for k in range(1, count // 2 + 1):
        for sender in ACCOUNTS:
            side = random.choice("12")
            price = 5900 + 0.25 * random.randrange(-6, 7)
            terms = {"_54": side, "_40": "2"}
            yield request(sender, "D", k, _21=1, _38=random.randrange(1, 6), _44=price, **terms)
            if k % 5 == 0:
                yield request(sender, "G", REPLACE + k, _21=1, _41=k, _38=random.randrange(1, 9), _44=price + 0.25, **terms)
            elif k % 3 == 0:
                yield request(sender, "F", CANCEL + k, _41=k, _54=side)


def one_of_each(version):
    """Requests whose answers have what those of the crowd do not have."""
    name = iter(range(SPECIAL, SPECIAL + 100))

    def order(sender, side, **fields):
        return request(sender, "D", next(name), **{"_21": 1, "_55": "CLF7", "_54": side, "_38": 2, "_40": 2, "_44": 70,
                                                   **fields})

    yield order("ALICE", "1", _44=70.001)  # off tick
    yield order("ALICE", "1", _55="NONE")
    yield order("ALICE", "1", _44=1000)
    yield order("ALICE", "1", _59=3)
    yield order("ALICE", "1", _59=4)
    yield order("ALICE", "1", _40=1, _44=None)
    yield order("ALICE", "1", _38=10, _111=2)
    yield "wait"
    yield request("ALICE", "H", SPECIAL + 6, _790="Q", _55="CLF7", _54="1")
    yield request("ALICE", "H", SPECIAL + 99, _790="Q2", _55="CLF7", _54="1")
    yield request("ALICE", "D", SPECIAL + 6, _21=1, _55="CLF7", _54="1", _38=1, _40="2", _44=60)  # its name is taken
    yield "wait"
    yield request("ALICE", "F", CANCEL, _41=SPECIAL + 99, _55="CLF7", _54="1")
    yield order("ALICE", "1", _44=60)
    yield request("ALICE", "G", SPECIAL + 7, _21=1, _41=SPECIAL + 6, _55="CLF7", _54="1", _38=10, _40="2", _44=70)  # so is this one
    yield order("ALICE", "2", _40=3, _44=None, _99=70)  # triggered by the next order's trade
    yield order("BOB", "2")
    yield "wait"
    yield order("ALICE", "2", _2964=4)  # does not trade with its own account's order
    yield "wait"
    yield "BOB D 11=1|21=1|55=CLF7|38=1|40=2|44=70|60=20260102-12:00:00"  # Side is missing
    yield "BOB D 11=" + TOO_LONG + "|21=1|55=CLF7|54=1|38=1|40=2|44=70|60=20260102-12:00:00"
    yield "BOB D 11=" + UUID + "1|21=1|55=CLF7|54=1|38=1|40=2|44=60|60=20260102-12:00:00"
    yield "BOB F 11=" + UUID + "2|41=" + UUID + "1|55=CLF7|54=1|60=20260102-12:00:00"
    yield "BOB E 66=1|394=3"
    yield "wait"
    yield "ALICE S 117=quote-1|55=CLF7|132=65|134=3|133=75|135=2|60=20260102-12:00:00"
    yield "ALICE S 117=crossed|55=CLF7|132=75|134=3|133=65|135=2|60=20260102-12:00:00"
    yield "wait"
    yield order("BOB", "2", _44=65, _38=40)
    yield "wait"
    if version != "FIX.4.2":
        yield "ALICE AF 584=all|585=7"
    yield ("BOB i 117=7|296=2|302=1|304=2|295=2|299=1|55=CLF7|132=64|134=1|133=76|135=1|299=2|55=NONE|132=1|134=1|"
           "302=2|304=1|295=1|299=9|55=ESZ6|132=5000|134=1|133=7000|135=1")
    yield "wait"
    yield "ALICE Z 117=away|298=4"
    yield "BOB Z 117=away-2|298=4"
    yield "ALICE Z 117=nothing|298=4"
    yield "wait"
    if version != "FIX.4.2":
        yield request("ALICE", "q", CANCEL + 1, _530=1, _55="NONE")
        yield request("ALICE", "q", CANCEL + 2, _530=1, _55="CLF7")
        yield "ALICE x 320=list|559=4"
        yield "ALICE x 320=one|559=0|55=ESZ6-CLF7"
        yield "ALICE x 320=none|559=0|55=NONE"
    else:
        yield "ALICE c 320=list|321=3"
    for symbol in ("ESZ6", "ESZ6-C6000", "BTC-USD", "ESZ6-CLF7", "NONE"):
        yield f"ALICE c 320=definition.{symbol}|321=0|55={symbol}"
        yield f"ALICE e 324=status.{symbol}|55={symbol}|263=0"


def the_end(count, version):
    """Nothing is open behind this, and every report has come."""
    yield "wait"
    for sender in ACCOUNTS:
        if version != "FIX.4.2":
            yield request(sender, "q", CANCEL + SPECIAL, _55=None, _530=7)
        else:
            for k in [*range(1, count // 2 + 1), *range(SPECIAL, SPECIAL + 20)]:
                symbol = "CLF7" if k >= SPECIAL else "ESZ6"
                for at in (0, REPLACE):
                    yield request(sender, "F", CANCEL + SPECIAL + k + at, _55=symbol, _41=k + at, _54="1")
    yield "wait"
    for sender in ACCOUNTS:
        yield request(sender, "H", CANCEL - 1, _54="1")
        if version != "FIX.4.2":
            yield f"{sender} AN 710=held|724=0|715=20260102|60=20260102-12:00:00"
            yield f"{sender} AN 710=foreign|724=0|1=99|715=20260102|60=20260102-12:00:00"
    yield "wait"


def ask(name, kind, types="012478", symbols=("ESZ6", "CLF7"), depth=0, how=1):
    """A MarketDataRequest."""
    return (f"READER V 262={name}|263={kind}|264={depth}|265={how}|267={len(types)}|" +
            "|".join(f"269={each}" for each in types) + f"|146={len(symbols)}|" + "|".join(f"55={each}" for each in symbols))


class Client:
    """The files of one client, and its process."""

    def __init__(self, folder, version, port, plan):
        self.folder, self.version = folder, version
        self.settings, self.plan, self.log = (os.path.join(folder, name) for name in ("settings", "plan", "log"))
        sessions = "".join(f"[SESSION]\nSenderCompID={name}\nPassword={key_of(account)}\n"
                           for name, account in ACCOUNTS.items())
        with open(self.settings, "w", encoding="utf-8") as file:
            file.write(f"[DEFAULT]\nConnectionType=initiator\nTargetCompID=CORRO\n{version_settings(version, folder)}"
                       f"SocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nReconnectInterval=1\nHeartBtInt=5\n"
                       f"StartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=Y\n"
                       f"FileStorePath={folder}/store\n"
                       f"FileLogPath={folder}/quickfix\n{sessions}")
        with open(self.plan, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in plan))

    def start(self, *how):
        self.process = subprocess.Popen([CLIENT, self.settings, self.plan, self.log, *map(str, how)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait(self):
        """Its exit code and what it complained about."""
        _, complaint = self.process.communicate(timeout=TIME_LIMIT_S)
        return self.process.returncode, complaint

    def lines(self, kind):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as file:
            return [line[2:].rstrip() for line in file if line.startswith(kind) and line.endswith("\n")]

    def received(self):
        """[sender, fields]; the groups of the header and trailer have no repeated tags here."""
        for line in self.lines("<"):
            sender, text = line.split(" ", 1)
            yield sender, dict(field.split("=", 1) for field in text.strip("|").split("|"))

    def sent_again(self):
        """How many messages QuickFIX has sent with PossDupFlag, apart from gap fills."""
        count = 0
        for name in os.listdir(os.path.join(self.folder, "quickfix")):
            if name.endswith(".messages.current.log"):
                with open(os.path.join(self.folder, "quickfix", name), encoding="utf-8") as file:
                    count += sum("\x0149=CORRO\x01" not in line and "\x0143=Y\x01" in line and "\x0135=4\x01" not in line
                                 for line in file)
        return count


class FixInterop(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def exchange(self, more=""):
        """On a port that it has again when it is started again."""
        exchange = Exchange(self.folder, more=SPREAD + more)
        change_text(exchange.config, ('[fix]\nlisten = "127.0.0.1:0"', f'[fix]\nlisten = "127.0.0.1:{self.port}"'))
        return exchange

    def client(self, version, count):
        [self.port] = free_ports(1)
        client = Client(self.folder, version, self.port, [*crowd(count), *one_of_each(version), *the_end(count, version)])
        self.addCleanup(lambda: client.process.poll() is None and client.process.kill())
        return client

    def finish(self, client):
        code, complaint = client.wait()
        self.assertEqual(code, 0, complaint)
        self.assertEqual(client.lines("!"), [], "QuickFIX refuses messages of the venue")
        with open(client.plan, encoding="utf-8") as file:
            plan = [line.split() for line in file]
        self.assertEqual(len(client.lines(">")), len(plan), "each request was sent once")

        executions, orders = {}, collections.defaultdict(list)
        kinds, answered, repeated = collections.Counter(), set(), 0
        for sender, message in client.received():
            kinds[message["35"], message.get("150")] += 1
            answered.add((sender, message.get("11")))
            if message.get("43") == "Y":
                repeated += 1
            if message["35"] != "8":
                continue
            content = {tag: value for tag, value in message.items() if tag not in ("9", "10", "43", "52", "97", "122")}
            first = executions.setdefault((sender, message["17"]), content)
            if first is not content:
                self.assertEqual(message.get("43"), "Y", f"an ExecID twice: {message}")
                self.assertEqual(content, first)
            elif message["150"] != "I" and message.get("20") != "3" and message["37"] != "NONE":
                orders[sender, message["37"]].append(message)
        names = {(words[0], words[2].split("|")[0][3:]) for words in plan if len(words) > 1 and words[2].startswith("11=")}
        refused = {("BOB", "1"), ("BOB", TOO_LONG)}
        self.assertEqual(names - answered - refused, set(), "requests without a report")

        kind = "b" if client.version == "FIX.4.2" else "AI"
        nothing = "5" if client.version == "FIX.4.2" else "9"
        quotes = {(message["35"], message["117"], message["297"]) for _, message in client.received() if "117" in message}
        self.assertEqual(quotes, {(kind, "quote-1", "0"), (kind, "crossed", "5"), ("b", "7", "0"), ("b", "7", "5"),
                                  (kind, "away", "4"), (kind, "away-2", "4"), (kind, "nothing", nothing)})
        self.assertIn("quote-1", {message["11"] for _, message in client.received()
                                  if message.get("150") in ("F", "1", "2") and "11" in message}, "a fill of the quote")
        if client.version != "FIX.4.2":
            [end] = [message for _, message in client.received() if "912" in message and message.get("43") != "Y"]
            states = {message["37"] for _, message in client.received() if "584" in message and "912" not in message}
            self.assertEqual(int(end["911"]), len(states))
            self.assertGreaterEqual(len(states), 2, "the sides of the quote")

        traded, held = collections.Counter(), collections.Counter()
        for (sender, _), reports in orders.items():
            filled = 0
            for report in reports:
                held[sender, report["55"]] += int(report.get("32", "0")) * (1 if report["54"] == "1" else -1)
                filled += int(report.get("32", "0")) if report["150"] in "F12" else 0
                traded[report["55"], report["54"]] += int(report.get("32", "0"))
                self.assertEqual(int(report["14"]), filled, report)
                if report["39"] in "4C8":
                    self.assertEqual(report["151"], "0", report)
                else:
                    self.assertEqual(int(report["14"]) + int(report["151"]), int(report["38"]), report)
            self.assertIn(reports[-1]["39"], "24C8", "nothing is open at the end")
        for symbol in ("ESZ6", "CLF7"):
            self.assertEqual(traded[symbol, "1"], traded[symbol, "2"])
            self.assertGreater(traded[symbol, "1"], 0)
        self.check_reference_data(client)
        self.check_positions(client, +held, -held)
        return kinds, repeated

    def check_positions(self, client, bought, sold):
        """What the venue reports at the end is the sum of all fills."""
        if client.version == "FIX.4.2":
            return
        answers = [(sender, message) for sender, message in client.received()
                   if message["35"] in ("AO", "AP") and message.get("43") != "Y"]
        for sender in ACCOUNTS:
            [ack] = [m for who, m in answers if (who, m["35"], m["710"]) == (sender, "AO", "held")]
            told = [m for who, m in answers if (who, m["35"], m["710"]) == (sender, "AP", "held")]
            self.assertEqual(len(told), int(ack["727"]))
            for side, sums in (("704", bought), ("705", sold)):
                self.assertEqual({m["55"]: int(m[side]) for m in told if m[side] != "0"},
                                 {symbol: lots for (who, symbol), lots in sums.items() if who == sender})
            [foreign] = [m for who, m in answers if (who, m["710"]) == (sender, "foreign")]
            self.assertEqual((foreign["35"], foreign["728"], foreign["729"]), ("AO", "3", "2"))

    def check_reference_data(self, client):
        answers = collections.defaultdict(list)
        for _, message in client.received():
            answers[message.get("320", message.get("324"))].append(message)
        listed = "\n".join(line for line in client.lines("<") if "|320=list|" in line)
        for symbol in ("ESZ6", "CLF7", "ESZ6-C6000", "BTC-USD", "ESZ6-CLF7"):
            self.assertEqual(listed.count(f"|55={symbol}|"), 1, listed)
        self.assertEqual({message["393"] for message in answers["list"]}, {"5"})
        for symbol in ("ESZ6", "ESZ6-C6000", "BTC-USD", "ESZ6-CLF7"):
            [definition], [status] = answers[f"definition.{symbol}"], answers[f"status.{symbol}"]
            self.assertEqual((definition["55"], definition["323"]), (symbol, "1"))
            self.assertEqual((status["55"], status["326"]), (symbol, "17"))
        self.assertEqual(answers["definition.NONE"][0]["323"], "6")
        self.assertEqual(answers["status.NONE"][0]["326"], "20")

    def read_a_market(self, version):
        """A reader with dictionaries follows the book that a trader makes; what it has at the end is what a new picture has."""
        types = "012478" if version == "FIX.4.2" else "0124678ABC"
        plan = [ask("all", 1, types), ask("pictures", 1, types, depth=3, how=0), ask("none", 0, symbols=("NONE",)), "wait",
                ask("last", 0, types), "wait", ask("all", 2, types), ask("pictures", 2, types)]
        with Exchange(self.folder) as exchange:
            client = Client(self.folder, version, exchange.addresses["FIX data"].rsplit(":", 1)[1], plan)
            change_text(client.settings, ("SenderCompID=ALICE", "SenderCompID=READER"), ("HeartBtInt=5", "HeartBtInt=5\nResetOnLogon=Y"))
            with open(client.settings, encoding="utf-8") as file:
                text = file.read()
            with open(client.settings, "w", encoding="utf-8") as file:
                file.write(text[:text.rindex("[SESSION]")])
            self.addCleanup(lambda: client.process.poll() is None and client.process.kill())
            client.start("lose", 4)
            self.assertEqual(client.process.stdout.readline(), "sent\n")
            traders = [fix_order_entry_test.Client(exchange.addresses["FIX"], sender=name, password=key_of(account))
                       for name, account in ACCOUNTS.items()]
            choose = random.Random(3)
            for trader in traders:
                self.addCleanup(trader.close)
                trader.log_on()
            for k in range(1, 201):
                trader = traders[k % 2]
                trader.send(f"35=D|11={k}|55=ESZ6|54={choose.choice('12')}|38={choose.randrange(1, 5)}|40=2|"
                            f"44={5900 + 0.25 * choose.randrange(20)}|")
                while trader.next().get("11") != str(k):
                    pass
            _, complaint = client.process.communicate("go\n", timeout=TIME_LIMIT_S)
            self.assertEqual(client.process.returncode, 0, complaint)
        self.assertEqual(client.lines("!"), [], "QuickFIX refuses messages of the venue")
        books, kinds, trades = {}, collections.Counter(), 0
        for line in client.lines("<"):
            fields = [tuple(field.split("=", 1)) for field in line.split(" ", 1)[1].strip("|").split("|")]
            head = dict(fields)
            kinds[head["35"], head["262"]] += 1
            entries = []
            for tag, value in fields:
                if tag == {"W": "269", "X": "279"}.get(head["35"]):
                    entries.append({})
                if entries and tag != "10":
                    entries[-1][tag] = value
            if head["35"] == "W":
                books[head["262"], head["55"]] = {}
            for entry in entries:
                book = books[head["262"], entry.get("55", head.get("55"))]
                key = (entry["269"], entry.get("270") if entry["269"] in "01" else None, entry.get("276"))
                value = (entry.get("270"), entry.get("271"), entry.get("346"))
                if entry["269"] == "2":
                    trades += head["35"] == "X"
                elif head["35"] == "W":
                    book[key] = value
                else:
                    self.assertEqual(key in book, entry["279"] != "0", line)
                    if entry["279"] == "2":
                        del book[key]
                    else:
                        book[key] = value
        self.assertEqual(kinds["Y", "none"], 1)
        self.assertGreater(kinds["X", "all"], 50)
        self.assertGreater(kinds["W", "pictures"], 50)
        self.assertGreater(trades, 10)
        for symbol in ("ESZ6", "CLF7"):
            self.assertEqual(books["all", symbol], books["last", symbol])
        self.assertNotEqual(books["last", "ESZ6"], {})

    def test_market_data_of_fix_4_2(self):
        self.read_a_market("FIX.4.2")

    def test_market_data_of_fix_4_4(self):
        self.read_a_market("FIX.4.4")

    def test_market_data_of_fix_5_0_sp2(self):
        self.read_a_market("FIX.5.0SP2")

    def play_with_a_client_that_dies(self, version, count):
        client = self.client(version, count)
        with self.exchange():
            for at in (count // 3, count // 2, count):
                client.start("die", at)
                code, complaint = client.wait()
                self.assertEqual(code, -signal.SIGKILL, complaint)
                self.assertEqual(len(client.lines(">")), at)
            client.start()
            kinds, repeated = self.finish(client)
        self.assertGreater(repeated, 0, "the reports that the killed client has missed come again")
        return kinds

    def test_a_client_that_is_killed_gets_the_reports_that_it_has_missed(self):
        kinds = self.play_with_a_client_that_dies("FIX.4.4", 2_000)
        for kind in ("0", "4", "5", "8", "D", "F", "I"):
            self.assertIn(("8", kind), kinds)
        for kind in "39jrydf":
            self.assertIn((kind, None), kinds)

    def test_a_client_of_fix_4_2_too(self):
        kinds = self.play_with_a_client_that_dies("FIX.4.2", 400)
        for kind in ("0", "1", "2", "4", "5", "8", "D"):
            self.assertIn(("8", kind), kinds)

    def test_a_client_of_fix_5_0_sp2_too(self):
        kinds = self.play_with_a_client_that_dies("FIX.5.0SP2", 400)
        for kind in ("0", "4", "5", "8", "D", "F", "I", "L"):
            self.assertIn(("8", kind), kinds)

    def test_a_venue_that_is_killed_asks_for_the_requests_that_it_has_missed(self):
        client = self.client("FIX.4.4", 2_000)
        journal = f'\n[facility]\njournal = "{os.path.join(self.folder, "journal")}"\n'
        with self.exchange(journal) as exchange:
            client.start("lose", 1_000)
            self.assertEqual(client.process.stdout.readline(), "sent\n", "the client has ended early")
            exchange.process.send_signal(signal.SIGSTOP)
            client.process.stdin.write("go\n")
            client.process.stdin.flush()
            # The client stops by itself with requests that are not answered.
            before = 0
            while len(client.lines(">")) != before:
                before = len(client.lines(">"))
                time.sleep(0.3)
            exchange.process.kill()
        with self.exchange(journal):
            self.finish(client)
        self.assertGreater(client.sent_again(), 0, "QuickFIX has sent requests again")


if __name__ == "__main__":
    if not CLIENT:
        print("skipped: QuickFIX is not installed (apt-get install libquickfix-dev)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
