#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API as a process of its own is killed and comes back: the venue and its other clients do not notice, bots find their orders again, a page goes on
with a snapshot, and the past is there from another process's journal.

usage: api_role_test.py CORRO SOURCE_FOLDER
"""

import base64
import json
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from running_exchange import CORRO, TIME_LIMIT_S, demo_configuration, free_ports

INSTRUMENT = "CLF7"


class Frames:
    """The binary market channel by a socket of its own."""

    def __init__(self, port, query):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIME_LIMIT_S)
        key = base64.b64encode(b"0123456789abcdef").decode()
        self.socket.sendall((f"GET /ws/market/v1?{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.input = self.socket.makefile("rb")
        self.status = int(self.input.readline().split()[1])
        while self.input.readline() not in (b"\r\n", b""):
            pass

    def next(self):
        first, size = self.input.read(2)
        if size == 126:
            size = struct.unpack(">H", self.input.read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.input.read(8))[0]
        data = self.input.read(size)
        assert first == 0x82, first
        return struct.unpack(f"<{size // 8}d", data)

    def close(self):
        self.input.close()
        self.socket.close()


class Role(unittest.TestCase):
    local = None  # the way to the venue's order entry: "shm", "unix", or TCP

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(os.path.join(self.folder, "api"))
        journal = os.path.join(self.folder, "journal")
        orders, feed, snapshots, self.port = free_ports(4)
        venue = demo_configuration(self.folder, api_keys=True)
        with open(venue, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r'\[order_entry\]\nlisten = "[^"]+"', f'[facility]\njournal = "{journal}"\n\n[order_entry]\nlisten = "127.0.0.1:{orders}"', text)
        where = f"127.0.0.1:{orders}"
        if self.local:
            name = f"@corro-api-role-{os.getpid()}"
            text = text.replace("[order_entry]\n", f'[order_entry]\n{self.local}_listen = "{name}"\n')
            where = f"{self.local}:{name}"
        text = re.sub(r'\nfeed_listen = "[^"]+"', f'\nfeed_listen = "127.0.0.1:{feed}"', text)
        text = re.sub(r'snapshot_listen = "[^"]+"', f'snapshot_listen = "127.0.0.1:{snapshots}"', text)
        self.secret = re.search(r'id = 1\nname = "alice"\nkey = "(\w+)"', text)[1]
        web = os.path.join(self.folder, "api", "corro.toml")
        with open(web, "w", encoding="utf-8") as file:
            file.write(re.sub(r'\[api\]\nlisten = "[^"]+"', f'[api]\nlisten = "127.0.0.1:{self.port}"\n{self.tls()}', text))
        with open(venue, "w", encoding="utf-8") as file:
            file.write(re.sub(r'\[api\]\nlisten = "[^"]+"\n', "", text))
        self.venue = self.start("--config", venue)
        self.web = ["--role", "api", "--config", web, "--venue-feed", f"127.0.0.1:{feed}", "--venue-snapshots", f"127.0.0.1:{snapshots}",
                    "--venue-orders", where]
        self.orders = orders
        self.config = venue

    def tls(self):
        """The keys of a port with TLS, if there is a program that makes certificates."""
        if shutil.which("openssl") is None:
            return ""
        key, self.certificate = (os.path.join(self.folder, name) for name in ("key.pem", "certificate.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate],
                       check=True, capture_output=True)
        return f'tls_listen = "127.0.0.1:0"\ncertificate = "{self.certificate}"\nprivate_key = "{key}"'

    def start(self, *options):
        process = subprocess.Popen([CORRO, "serve", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   stdin=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        said = []
        for line in process.stdout:
            said.append(line)
            if "Ctrl-C" in line:
                self.said = "".join(said)
                return process
        self.fail("".join(said))
        return None

    def call(self, method, token=None, **params):
        """The result of a method, once the API has its venue."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api/v2", body, {"Content-Type": "application/json"})
        if token:
            request.add_header("Authorization", "Bearer " + token)
        end = time.monotonic() + TIME_LIMIT_S
        while True:
            try:
                with urllib.request.urlopen(request, timeout=TIME_LIMIT_S) as answer:
                    return json.loads(answer.read())["result"]
            except urllib.error.HTTPError as error:
                with error:
                    told = json.loads(error.read())
                if told["error"]["code"] not in (10040, 11051) or time.monotonic() > end:
                    self.fail(told)
            except OSError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.1)

    def log_on(self):
        return self.call("public/auth", grant_type="client_credentials", client_id="alice", client_secret=self.secret)["access_token"]

    def wait_for_bid(self):
        """The answer to an order comes by another way than the market data, and may be here first."""
        end = time.monotonic() + TIME_LIMIT_S
        while not self.call("public/get_order_book", instrument_name=INSTRUMENT, depth=1)["bids"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_the_venue_does_not_notice_that_its_api_was_killed(self):
        web = self.start(*self.web)
        if secure := re.search(r"wss://[\d.:]+/ws/api/v2, (https://[\d.:]+/api/v2)/", self.said):
            trust = ssl.create_default_context(cafile=self.certificate)
            with urllib.request.urlopen(secure[1] + "/public/get_time", timeout=TIME_LIMIT_S, context=trust) as answer:
                self.assertGreater(json.loads(answer.read())["result"], 0)
        self.assertEqual(secure is None, shutil.which("openssl") is None, self.said)
        token = self.log_on()
        placed = self.call("private/buy", token, instrument_name=INSTRUMENT, amount=2, price=50, label="stays")["order"]
        self.assertEqual(placed["order_state"], "open")
        self.wait_for_bid()
        page = Frames(self.port, f"instrument={INSTRUMENT}")
        self.assertEqual(page.status, 101)
        snapshot = page.next()
        self.assertEqual(snapshot[:2], (1, 1))
        self.assertEqual(snapshot[20], 1, "the order is the book")
        # Another client trades all the time.
        load = subprocess.Popen([CORRO, "load", "--config", self.config, "--connect", f"127.0.0.1:{self.orders}", "--clients", "2", "--rate", "300",
                                 "--messages", "900"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                stdin=subprocess.DEVNULL)
        time.sleep(1)
        web.kill()
        web.wait()
        with self.assertRaises((OSError, ValueError, AssertionError)):
            while True:
                page.next()
        page.close()
        said = load.communicate(timeout=TIME_LIMIT_S)[0]
        self.assertEqual(load.returncode, 0, said)
        self.assertIsNone(self.venue.poll())

        self.start(*self.web)
        token = self.log_on()
        state = self.call("private/get_order_state", token, order_id=placed["order_id"])
        self.assertEqual((state["order_state"], state["label"], state["amount"]), ("open", "stays", 2))
        # It refuses the market until it has caught up with the feed.
        deadline = time.monotonic() + TIME_LIMIT_S
        while (page := Frames(self.port, f"instrument={INSTRUMENT}")).status != 101:
            self.assertLess(time.monotonic(), deadline, page.status)
            page.close()
            time.sleep(0.01)
        snapshot = page.next()
        book = self.call("public/get_order_book", instrument_name=INSTRUMENT, depth=10000)
        self.assertEqual(snapshot[1], 1)
        self.assertEqual(snapshot[20:22], (len(book["bids"]), len(book["asks"])))
        page.close()
        cancelled = self.call("private/cancel", token, order_id=placed["order_id"])
        self.assertEqual(cancelled["order_state"], "cancelled")
        # The past, from the journal that the venue's process writes.
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}/api/v1/orders?instrument={INSTRUMENT}",
                                                           headers={"Authorization": "Bearer " + token}), timeout=TIME_LIMIT_S) as answer:
            events = [each["event"] for each in json.loads(answer.read()) if str(each["order"]) == placed["order_id"]]
        self.assertEqual(events, ["entered", "cancelled"])


def connected_to(port):
    """How many TCP connections this machine has to a port of its own."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        return sum(re.search(rf"^ *\d+: \w+:\w+ 0100007F:{port:04X} 01 ", line) is not None for line in file)


class Memory(Role):
    local = "shm"

    def test_an_api_in_the_venues_process_uses_the_shared_memory_that_it_finds(self):
        self.venue.kill()
        self.venue.wait()
        both = os.path.join(self.folder, "api", "both.toml")
        with open(self.config, encoding="utf-8") as file, open(both, "w", encoding="utf-8") as to:
            to.write(file.read() + f'\n[api]\nlisten = "127.0.0.1:{self.port}"\n')
        self.start("--config", both)
        token = self.log_on()
        placed = self.call("private/buy", token, instrument_name=INSTRUMENT, amount=2, price=50)["order"]
        self.assertEqual(placed["order_state"], "open")
        self.assertEqual(connected_to(self.orders), 0)
        with socket.create_connection(("127.0.0.1", self.orders), timeout=TIME_LIMIT_S):
            self.assertEqual(connected_to(self.orders), 1, "this connection is counted")

    def test_an_api_finds_its_venue_again_after_the_venue_was_killed(self):
        self.start(*self.web)
        token = self.log_on()
        placed = self.call("private/buy", token, instrument_name=INSTRUMENT, amount=2, price=50, label="lasts")["order"]
        self.venue.kill()
        self.venue.wait()
        self.venue = self.start("--config", self.config)
        again = self.call("private/buy", token, instrument_name=INSTRUMENT, amount=1, price=50)["order"]
        self.assertEqual(again["order_state"], "open")
        state = self.call("private/get_order_state", token, order_id=placed["order_id"])
        self.assertEqual((state["order_state"], state["label"], state["amount"]), ("open", "lasts", 2))


class UnixSocket(Role):
    local = "unix"


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
