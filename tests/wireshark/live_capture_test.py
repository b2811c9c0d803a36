#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A session as it happened: an exchange, clients and a view of it, captured on the loopback interface, read by tshark.

usage: live_capture_test.py CORRO SOURCE_FOLDER

Order entry is shown by the project's dissector, SoupBinTCP, MoldUDP64 and FIX by tshark's own. Exits with 77, which the test
run counts as skipped, where tshark is not installed or may not capture.
"""

import collections
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/system"))

import fix_client_test  # noqa: E402
import fix_market_data_test  # noqa: E402
import fix_order_entry_test  # noqa: E402
from dissect import messages_shown, run_tshark, tshark_path  # noqa: E402
from running_exchange import TIME_LIMIT_S, Exchange, run  # noqa: E402

REQUESTS = 300


def port_of(address):
    return int(address.rsplit(":", 1)[1])


def may_capture():
    done = subprocess.run(["dumpcap", "-i", "lo", "-a", "duration:1", "-w", "/dev/null"], capture_output=True, check=False,
                          timeout=TIME_LIMIT_S)
    return done.returncode == 0


class Recording:
    """Captures the loopback interface into a file; a context manager."""

    def __init__(self, path, ports):
        self.path = path
        self.filter = " or ".join(f"port {port}" for port in ports)

    def __enter__(self):
        # Unbuffered and with room for bursts: a packet that the capture lost would look like a fault of the venue.
        self.process = subprocess.Popen(["dumpcap", "-q", "-i", "lo", "-B", "64", "-f", self.filter, "-w", str(self.path)],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("File:"):
                return self
        raise AssertionError("dumpcap did not begin")

    def __exit__(self, *unused):
        time.sleep(1)  # the last packets reach the file
        self.process.terminate()
        self.process.communicate(timeout=TIME_LIMIT_S)


def own_dissectors(path, *options):
    """What tshark shows without the project's dissector."""
    done = subprocess.run([tshark_path(), "-r", str(path), "-T", "pdml", *options], capture_output=True, text=True,
                          check=True, timeout=TIME_LIMIT_S)
    return ElementTree.fromstring(done.stdout)


class LiveCapture(unittest.TestCase):
    def test_shows_a_live_session_without_a_fault(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.bind(("127.0.0.1", 0))
            line_port = line.getsockname()[1]
            path = pathlib.Path(folder) / "live.pcap"
            # The lines belong into the table that the configuration has already.
            with Exchange(folder, lines=[f"127.0.0.1:{line_port}"]) as exchange:
                orders, feed = (port_of(exchange.addresses[name]) for name in ("order entry", "feed"))
                with Recording(path, [orders, feed, line_port]):
                    view = subprocess.Popen([exchange.program, "watch", "--plain", "--seconds", "3", "--feed",
                                             exchange.addresses["feed"], "--snapshot", exchange.addresses["snapshots"]],
                                            stdout=subprocess.DEVNULL)
                    time.sleep(1)
                    load = run("load", "--config", exchange.config, "--venue", exchange.addresses["order entry"],
                               "--clients", "3", "--messages", str(REQUESTS))
                    self.assertIn(f"answered once {REQUESTS}, lost 0", load.stdout, load.stderr)
                    view.wait(timeout=TIME_LIMIT_S)

            shown = messages_shown(run_tshark(path, "-o", f"corro.ports:{orders}", "-o", "corro_feed.ports:"))
            self.assertEqual([fault for each in shown for fault in each["faults"]], [])
            kinds = collections.Counter(int.from_bytes(each["fields"]["message"], "big") for each in shown)
            self.assertEqual(kinds[2], 3, "a hello for each client")
            self.assertEqual(kinds[16] + kinds[17] + kinds[18], REQUESTS, "every request, once")
            self.assertGreater(kinds[33] + kinds[36] + kinds[37], REQUESTS // 3, "and their answers")

            lines = run_tshark(path, "-o", f"corro_lines.ports:{line_port}", "-o", "corro_feed.ports:", "-Y", f"udp.port == {line_port}")
            on_lines = messages_shown(lines)
            self.assertEqual([fault for each in on_lines for fault in each["faults"]], [])
            self.assertGreater(len(on_lines), REQUESTS, "the lines carry what the feed carries")

            tree = own_dissectors(path, "-d", f"tcp.port=={feed},soupbintcp", "-d", f"udp.port=={line_port},moldudp64")
            protocols = collections.Counter(proto.get("name") for proto in tree.iter("proto"))
            self.assertEqual(protocols["_ws.malformed"], 0)
            types = collections.Counter(field.get("show") for field in tree.iter("field")
                                        if field.get("name") == "soupbintcp.packet_type")
            self.assertGreater(types["'S'"], REQUESTS, f"sequenced packets: {types}")
            counted = sum(int(field.get("show")) for field in tree.iter("field")
                          if field.get("name") == "moldudp64.count" and int(field.get("show")) != 65535)
            blocks = sum(1 for field in tree.iter("field") if field.get("name") == "moldudp64.msglen")
            self.assertGreater(blocks, REQUESTS)
            self.assertEqual(blocks, counted, "each packet holds as many messages as it says")

    def test_fix_is_read_by_the_dissector_of_wireshark(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "fix.pcap"
            with Exchange(folder, more=fix_client_test.MORE_SESSIONS) as exchange:
                orders, data = (port_of(exchange.addresses[name]) for name in ("FIX", "FIX data"))
                with Recording(path, [orders, data]):
                    self.read_the_market(exchange)
                    self.trade_by_hand(exchange)
                    load = run("load", "--config", exchange.config, "--fix", "--venue", exchange.addresses["FIX"],
                               "--clients", "10", "--messages", str(REQUESTS))
                    self.assertIn(f"answered once {REQUESTS}, lost 0", load.stdout, load.stderr)

            # A checksum that is wrong is shown as an error; other remarks of tshark are of TCP.
            tree = own_dissectors(path, "-d", f"tcp.port=={orders},fix", "-d", f"tcp.port=={data},fix")
            messages = [proto for proto in tree.iter("proto") if proto.get("name") == "fix"]
            faults = [field.get("showname") for each in messages for field in each.iter("field")
                      if field.get("name", "").startswith(("_ws.malformed", "_ws.expert"))
                      or field.get("name") == "fix.checksum_bad" and field.get("show") in ("1", "True")]
            protocols = collections.Counter(proto.get("name") for proto in tree.iter("proto"))
            self.assertEqual((protocols["_ws.malformed"], faults), (0, []))
            kinds = collections.Counter(field.get("show") for each in messages for field in each.iter("field")
                                        if field.get("name") == "fix.MsgType")
            self.assertEqual(kinds["A"], 2 * (10 + 3 + 2), "each Logon has its answer")
            self.assertGreaterEqual(kinds["8"], REQUESTS // 2)
            self.assertGreaterEqual(kinds["D"] + kinds["F"] + kinds["G"], REQUESTS)
            for kind in ("W", "X", "Y", "V", "b", "i", "y", "x", "d", "c", "f", "e", "j", "3", "5"):
                self.assertGreater(kinds[kind], 0, f"{kind}: {kinds}")

    def read_the_market(self, exchange):
        for version in ("FIX.4.2", "FIX.4.4", "FIXT.1.1"):
            reader = fix_market_data_test.MarketClient(exchange.addresses["FIX data"], version=version)
            self.addCleanup(reader.close)
            self.assertIsNotNone(reader.log_on("1137=9|" if version == "FIXT.1.1" else ""))
            reader.send("35=V|262=all|263=1|264=0|265=1|267=3|269=0|269=1|269=2|146=1|55=ESZ6|")
            self.assertEqual(reader.apply_next(), "W")
            reader.send("35=V|262=none|263=0|264=0|267=1|269=0|146=1|55=NONE|")
            self.assertEqual(dict(reader.next())["35"], "Y")

    def trade_by_hand(self, exchange):
        for name, version in (("alice", "FIX.4.4"), ("bob", "FIXT.1.1")):
            client = fix_order_entry_test.Client(exchange.addresses["FIX"], sender=name.upper(), version=version,
                                                 password=fix_order_entry_test.key_of(name))
            self.addCleanup(client.close)
            self.assertEqual(client.log_on("1137=9|" if version == "FIXT.1.1" else "")["35"], "A")
            client.ask("35=D|11=1|55=ESZ6|54=1|38=5|40=2|44=5900.25|")
            client.ask("35=D|11=2|55=ESZ6|38=5|40=2|44=5900.25|")
            client.ask("35=i|117=3|296=1|302=1|304=1|295=1|299=1|55=ESZ6|132=5890|134=1|133=5910|135=1|")
            client.ask("35=x|320=list|559=4|")
            client.ask("35=c|320=one|321=0|55=ESZ6|")
            client.ask("35=e|324=phase|55=ESZ6|263=0|")
            client.ask("35=E|66=1|")
            client.ask("35=5|")


if __name__ == "__main__":
    if tshark_path() is None:
        print("tshark is not installed")
        sys.exit(77)
    if not may_capture():
        print("this user may not capture on the loopback interface")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
