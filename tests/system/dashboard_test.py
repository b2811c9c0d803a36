#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboard in a real browser, against a venue: every panel shows what the API says.

usage: dashboard_test.py CORRO SOURCE_FOLDER
"""

import datetime
import functools
import http.server
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from browser import Browser, missing
from running_exchange import CORRO, SOURCE, TIME_LIMIT_S, Exchange

sys.path.insert(0, os.path.join(SOURCE, "web"))
from serve import PageServer  # noqa: E402

SECRETS = {"operator": "5e" * 32, "alice": "3c2ab6291091e38af2a3683333a6e0ccf1e3b6d53a46e5fcbd9062eaa690b5b1",
           "bob": "fc7d2b09ecee14bb69846b42616c073eb31a0e064aeea44015505bff39a5a04b"}
SHIFT = "\ue008"
ES, CL = "ESZ6", "CLF7"
AXE = os.path.join(SOURCE, "web", "node_modules", "axe-core", "axe.min.js")

# Two options whose forward is ESZ6, a future whose auctions last longer than a test, one that an operator settles, a spread
# with implied prices, and an operator.
INSTRUMENTS = f"""
[[instrument]]
id = 14
symbol = "LAST"
product = 5
kind = "future"
tick_size = "0.5"
price_low = "0"
price_high = "100"

[[instrument]]
id = 15
symbol = "CLG7"
product = 2
tick_size = "0.01"
price_low = "50"
price_high = "90"

[[instrument]]
id = 16
symbol = "CLF7-CLG7"
product = 2
kind = "spread"
tick_size = "0.01"
price_low = "-10"
price_high = "10"
legs = [{{ instrument = 2, side = "buy" }}, {{ instrument = 15, side = "sell" }}]
implied = true

[[account]]
id = 5
name = "operator"
operator = true
sessions = 1
key = "{SECRETS['operator']}"

[[api_key]]
client_id = "operator"
account = 5
session = 1

[[instrument]]
id = 13
symbol = "WILD"
product = 4
kind = "future"
tick_size = "1"
price_low = "0"
price_high = "10000"
dynamic_band = "5"
volatility_auction_ms = 3600000

[[instrument]]
id = 11
symbol = "ES-C6050"
product = 1
kind = "option"
right = "call"
strike = "6050"
expiry = 2027-06-18T15:00:00Z
tick_size = "0.05"
price_low = "0"
price_high = "2000"

[[instrument]]
id = 12
symbol = "ES-P6050"
product = 1
kind = "option"
right = "put"
strike = "6050"
expiry = 2027-06-18T15:00:00Z
tick_size = "0.05"
price_low = "0"
price_high = "2000"
"""


def black(right, forward, strike, years, volatility):
    """The price and the delta of an option by Black's model."""
    def distribution(x):
        return (1 + math.erf(x / math.sqrt(2))) / 2
    spread = volatility * math.sqrt(years)
    d1 = math.log(forward / strike) / spread + spread / 2
    call = forward * distribution(d1) - strike * distribution(d1 - spread)
    return (call, distribution(d1)) if right == "call" else (call - forward + strike, distribution(d1) - 1)


# What the ladder shows, as [price, bid, ask, own buy, own sell] where there is anything.
LADDER = """
return [...document.querySelectorAll('#ladder tbody tr')].map((row) => {
    const at = (k) => Number(row.cells[k].querySelector('span').textContent);
    return [Number(row.cells[2].textContent), at(1), at(3), at(0), at(4)];
}).filter((row) => row.slice(1).some((value) => value > 0));
"""


# What the page does, counted: calls that draw, the most in a frame; texts that are written, elements that are made.
COUNT_WORK = """
window.work = {frames: 0, arcs: 0, texts: 0, written: 0, made: 0, began: performance.now()};
let arcs = 0, texts = 0;
const counting = (of, name, add) => { const was = of[name]; of[name] = function (...given) { add(); return was.apply(this, given); }; };
counting(Path2D.prototype, 'arc', () => ++arcs);
counting(CanvasRenderingContext2D.prototype, 'fillText', () => ++texts);
const frame = () => {
    ++work.frames;
    work.arcs = Math.max(work.arcs, arcs);
    work.texts = Math.max(work.texts, texts);
    arcs = texts = 0;
    requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
new MutationObserver((all) => {
    for (const each of all) {
        ++work.written;
        for (const node of each.addedNodes) if (node.nodeType === 1) ++work.made;
    }
}).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
"""


class SilentFiles(http.server.SimpleHTTPRequestHandler):
    """A file server."""

    def log_message(self, *unused):
        pass


class Api:
    """A client of the JSON API over HTTP."""

    def __init__(self, address, client_id=None):
        self.url = f"http://{address}/api/v2"
        self.headers = {}
        if client_id:
            token = self.call("public/auth", grant_type="client_credentials", client_id=client_id, client_secret=SECRETS[client_id])
            self.headers = {"Authorization": "Bearer " + token["access_token"]}

    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url, body, self.headers), timeout=TIME_LIMIT_S) as answer:
            return json.load(answer)["result"]

    def order(self, side, price, amount=1, instrument=ES, **more):
        return self.call("private/" + side, instrument_name=instrument, amount=amount, price=price, **more)["order"]

    def book(self, instrument=ES):
        book = self.call("public/get_order_book", instrument_name=instrument, depth=10000)
        return {side: {price: amount for price, amount in book[side]} for side in ("bids", "asks")}


def place(does, price):
    """The selector of a button of the ladder, in an instrument whose tick is a quarter."""
    return f"#ladder tr[data-price='{int(price * 4)}'] [data-does={does}]"


class Page(unittest.TestCase):
    """A venue, and a browser that shows its page."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.venue = cls.enter(Exchange(folder.name, more=INSTRUMENTS + f'[facility]\njournal = "{folder.name}/journal"\n', api_keys=True))
        cls.pages = PageServer(0, cls.venue.addresses["API"], os.path.join(SOURCE, "web", "dist"))
        cls.addClassCleanup(cls.pages.server_close)
        cls.addClassCleanup(cls.pages.shutdown)
        threading.Thread(target=cls.pages.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        cls.browser = cls.enter(Browser())
        cls.address = f"http://127.0.0.1:{cls.pages.server_address[1]}/"
        cls.bob = Api(cls.venue.addresses["API"], "bob")
        cls.alice = Api(cls.venue.addresses["API"], "alice")
        cls.browser.open(cls.address)
        cls.browser.run("localStorage.setItem('corro-tour-seen', 'yes')")

    @classmethod
    def enter(cls, manager):
        entered = manager.__enter__()
        cls.addClassCleanup(manager.__exit__, None, None, None)
        return entered

    def tearDown(self):
        # A connection that was cut on purpose is the only thing that the browser may complain about, with a question that was under
        # way, and a venue that is too busy for a question about its past.
        allowed = ("WebSocket connection", "status of 503")
        if "lost_connection" in self.id():
            allowed += ("ERR_EMPTY_RESPONSE",)
        complaints = [each for each in self.browser.complaints() if not any(text in each for text in allowed)]
        self.assertEqual(complaints, [])

    def load(self):
        self.browser.open("about:blank")
        self.browser.open(self.address)
        self.browser.wait("a live market", "return document.querySelector('#connection').textContent === 'live'")

    def choose(self, instrument):
        self.browser.run("""const list = document.querySelector('#instrument');
            list.value = arguments[0]; list.dispatchEvent(new Event('change'));""", instrument)

    def wait_for_ladder(self, instrument=ES):
        """Until the ladder equals the venue's book, at all prices that it shows."""
        self.browser.click("#ladder-centre")
        end = time.monotonic() + TIME_LIMIT_S
        while True:
            book = self.bob.book(instrument)
            rows = self.browser.run(LADDER)
            shown = {"bids": {row[0]: row[1] for row in rows if row[1]}, "asks": {row[0]: row[2] for row in rows if row[2]}}
            low, high = self.browser.run("""const rows = document.querySelectorAll('#ladder tbody tr');
                return [rows[rows.length - 1], rows[0]].map((row) => Number(row.cells[2].textContent));""")
            there = {side: {p: a for p, a in book[side].items() if low <= p <= high} for side in book}
            is_seen = all(there[side] or not book[side] for side in book)  # a storm may leave a side without orders
            if shown == there and is_seen:
                return there
            self.assertLess(time.monotonic(), end, f"the ladder has {shown}, the venue {there}")
            if not is_seen:
                self.browser.click("#ladder-centre")  # the first click may have been before the instrument was there
            time.sleep(0.2)  # the API answers a limited number of questions in a second


@unittest.skipIf(missing(), missing())
class Storm(Page):
    def test_ladder_equals_the_book_after_a_storm(self):
        self.load()
        self.browser.run(COUNT_WORK)
        done = subprocess.run([CORRO, "load", "--config", self.venue.config, "--venue", self.venue.addresses["order entry"], "--clients", "4",
                               "--rate", "10000", "--messages", "20000", "--seed", "3"], capture_output=True, text=True,
                              timeout=TIME_LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # What a frame costs does not depend on the storm: trades are gathered, texts have a pace, rows stay.
        work = self.browser.run("return {...work, seconds: (performance.now() - work.began) / 1000}")
        self.assertGreater(work["frames"], 0)
        self.assertLess(work["arcs"], 300, work)
        self.assertLess(work["texts"], 100, work)
        self.assertLess(work["written"], 2000 * work["seconds"], work)
        self.assertLess(work["made"], 100 * work["seconds"] + 50, work)
        for instrument in (ES, CL, "BTC-USD"):
            self.choose(instrument)
            self.wait_for_ladder(instrument)
            # The page writes the tape and the top line ten times a second.
            end = time.monotonic() + TIME_LIMIT_S
            while True:
                tape = self.browser.wait("trades on the tape", """const rows = [...document.querySelectorAll('#tape tr')];
                    return rows.length > 0 && rows.map((row) => [row.cells[1].textContent, Number(row.cells[2].textContent),
                                                                 Number(row.cells[3].textContent)]);""")
                shown = (tape, float(self.browser.text("#last")), float(self.browser.text("#volume")))
                trades = self.bob.call("public/get_last_trades_by_instrument", instrument_name=instrument, count=len(tape))["trades"]
                ticker = self.bob.call("public/ticker", instrument_name=instrument)
                there = ([[each["direction"], each["price"], each["amount"]] for each in trades], ticker["last_price"],
                         ticker["stats"]["volume"])
                if shown == there or time.monotonic() > end:
                    break
                time.sleep(0.2)
            self.assertEqual(shown, there)
            row = self.browser.wait("the list of instruments", """const row = [...document.querySelectorAll('#watchlist tr')]
                .find((each) => each.cells[0].textContent === arguments[0]);
                const cells = [...row.cells].slice(1).map((cell) => Number(cell.textContent));
                return cells[3] === arguments[1] && cells;""", instrument, ticker["stats"]["volume"])
            self.assertEqual(row[2], ticker["last_price"])


        self.run_opens_without_a_venue()

    def book_at(self, moment):
        at = datetime.datetime.fromtimestamp(moment / 1000, datetime.timezone.utc).isoformat(timespec="milliseconds")[:-6]
        url = f"http://{self.venue.addresses['API']}/api/v1/book?instrument={ES}&depth=1000&format=json&at={at}"
        with urllib.request.urlopen(url, timeout=TIME_LIMIT_S) as answer:
            return json.load(answer)

    def run_opens_without_a_venue(self):
        """What `corro export --format html` has written, from a file server."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        done = subprocess.run([CORRO, "export", "--config", self.venue.config, "--format", "html", folder.name], capture_output=True, text=True,
                              timeout=TIME_LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # The pages of this source folder, whatever the program was built with.
        for name in ("app.js", "app.css"):
            shutil.copy(os.path.join(SOURCE, "web", "dist", name), folder.name)
        handler = functools.partial(SilentFiles, directory=folder.name)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as files:
            threading.Thread(target=files.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
            self.browser.open(f"http://127.0.0.1:{files.server_address[1]}/#{ES}@0")
            self.browser.wait("a run", "return document.querySelector('#connection').textContent === 'recorded'")
            if self.browser.run("return document.querySelector('#tour-dialog').open"):
                self.browser.click("#tour-dialog button[type=submit]")
            self.browser.click("#run-play")
            with open(os.path.join(folder.name, "run.json"), encoding="utf-8") as file:
                market = next(each for each in json.load(file)["markets"] if each["instrument"]["instrument_name"] == ES)
            first, last = market["first_timestamp"], market["last_timestamp"]
            for moment in (last + 200, (first + last) // 2, first + 300):
                moment -= moment % 100
                rows = self.book_at(moment)
                while not rows and moment < last:  # a thin book may be empty for a moment
                    moment += 100
                    rows = self.book_at(moment)
                self.browser.run("""const slider = document.querySelector('#run-slider'); slider.value = arguments[0];
                    slider.dispatchEvent(new Event('input'));""", moment)
                self.browser.click("#ladder-centre")
                self.browser.wait("that moment", """const rows = [...document.querySelectorAll('#ladder tbody tr')];
                    const there = new Map(arguments[0].map((row) => [row.side + row.price, row.quantity]));
                    return rows.length > 0 && rows.every((row) => [["buy", 1], ["sell", 3]].every(([side, k]) =>
                        Number(row.cells[k].querySelector('span').textContent) === (there.get(side + Number(row.cells[2].textContent)) ?? 0)));""", rows)
            files.shutdown()


@unittest.skipIf(missing(), missing())
class Dashboard(Page):
    def setUp(self):
        self.bob.call("private/cancel_all")
        self.alice.call("private/cancel_all")
        for k in range(3):
            self.bob.order("buy", 5999 - k / 4, 3 + k)
            self.bob.order("sell", 6001 + k / 4, 5 + k)
        self.load()

    def log_on(self, name="alice"):
        self.browser.type("#client-id", name)
        self.browser.type("#client-secret", SECRETS[name])
        self.browser.click("#log-on button")
        self.browser.wait("logged on", "return !document.querySelector('#who').hidden && !document.querySelector('#ticket-fields').disabled")

    def test_ladder_equals_the_book_of_the_venue(self):
        self.assertEqual(self.wait_for_ladder(), {"bids": {5999: 3, 5998.75: 4, 5998.5: 5}, "asks": {6001: 5, 6001.25: 6, 6001.5: 7}})
        self.assertEqual(self.browser.text("#best-bid"), "5999.00")
        self.assertEqual(self.browser.text("#best-ask"), "6001.00")
        self.assertEqual(self.browser.text("#phase"), "continuous")

    def test_a_click_on_the_ladder_places_an_order_and_another_cancels_it(self):
        self.log_on()
        self.browser.click(place("buy", 6000))
        self.browser.wait("the order in the ladder", "return document.querySelector(arguments[0] + ' span').textContent === '1'",
                          place("cancel-buy", 6000))
        self.assertEqual(self.bob.book()["bids"][6000], 1)
        self.wait_for_ladder()
        order = self.browser.run("return [...document.querySelectorAll('#orders tr td')].slice(0, 4).map((cell) => cell.textContent)")
        self.assertEqual(order, [ES, "buy", "6000.00", "1 of 1"])
        self.browser.click(place("cancel-buy", 6000))
        self.browser.wait("no order", "return document.querySelectorAll('#orders tr').length === 0")
        self.assertNotIn(6000, self.bob.book()["bids"])

    def test_the_latency_panel_has_the_stages_of_the_venue(self):
        shown = """return [...document.querySelectorAll('#stages tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent));"""
        # One request in 16 is timed, and shown for ten seconds. Three at a time, so that it is not always a cancel.
        for _ in range(300):
            for price in (5990, 5989):
                self.bob.order("buy", price)
            self.bob.call("private/cancel_all")
            time.sleep(0.1)
            if "enter order: total" in [row[0] for row in self.browser.run(shown)]:
                break
        rows = {row[0]: [float(cell) for cell in row[1:]] for row in self.browser.run(shown)}
        for stage in ("decode", "answer", "total"):
            p50, p99, p999, count = rows[f"enter order: {stage}"]
            self.assertTrue(0 < p50 <= p99 <= p999, rows)
            self.assertGreaterEqual(count, 1)
        self.assertGreaterEqual(rows["enter order: total"][2], rows["enter order: answer"][2])
        there = {(each["request"], each["stage"]): each for each in self.bob.call("public/get_latencies")}
        self.assertEqual(set(there[("enter_order", "total")]), {"request", "stage", "count", "p50_ns", "p99_ns", "p999_ns"})

    def test_own_orders_have_their_place_in_the_queue(self):
        self.log_on()
        self.browser.run("""window.drawn = []; const was = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, ...more) { drawn.push(text); return was.call(this, text, ...more); };""")

        def wait(order, text):
            self.browser.wait(f"{text} before {order['order_id']}",
                              "return document.querySelector(`#orders tr[data-order='${arguments[0]}']`)?.cells[4].textContent === arguments[1]",
                              order["order_id"], text)

        behind = self.alice.order("buy", 5999, 2)
        wait(behind, "3 in 1 order")
        alone = self.alice.order("buy", 6000, 1)
        wait(alone, "first")
        self.browser.wait("it in the heatmap", "return drawn.includes('own buy 2, 3 before it') && drawn.includes('own buy 1, 0 before it')")
        self.bob.order("buy", 5999, 5)
        last = self.alice.order("buy", 5999, 1)
        wait(last, "10 in 3 orders")
        # What trades before it is less, and its own amount; then it loses its place by an amend.
        self.alice.call("private/cancel", order_id=alone["order_id"])
        self.bob.order("sell", 5999, 1)
        wait(behind, "2 in 1 order")
        self.alice.call("private/edit", order_id=behind["order_id"], amount=4)
        wait(behind, "8 in 3 orders")
        wait(last, "7 in 2 orders")
        queue = self.bob.call("public/get_orders_by_instrument", instrument_name=ES, depth=1)["bids"]
        queue.sort(key=lambda each: each[3])
        ids = [each[0] for each in queue]
        self.assertEqual([sum(each[2] for each in queue[:ids.index(order["order_id"])]) for order in (last, behind)], [7, 8])
        # A place is of the instrument that is shown, and comes back with a new connection.
        self.choose(CL)
        wait(last, "–")
        self.choose(ES)
        self.browser.click("#log-off")
        self.browser.wait("the form", "return !document.querySelector('#log-on').hidden && document.querySelector('#connection').textContent === 'live'")
        self.log_on()
        wait(last, "7 in 2 orders")

    def test_a_stranger_cannot_trade(self):
        self.browser.click(place("buy", 6000))
        self.assertIn("Log on", self.browser.text("#notes"))
        self.assertTrue(self.browser.run("return document.querySelector('#ticket-fields').disabled"))
        self.browser.type("#client-id", "alice")
        self.browser.type("#client-secret", "0" * 64)
        self.browser.click("#log-on button")
        self.browser.wait("a refusal", "return document.querySelector('#notes').textContent.includes('invalid_credentials')")
        self.assertNotIn(6000, self.bob.book()["bids"])

    def send(self, side, **fields):
        for field, value in fields.items():
            self.browser.run("""const field = document.getElementById(arguments[0]); field.value = arguments[1];
                field.dispatchEvent(new Event('change'));""", field.replace("_", "-"), value)
        self.browser.run("document.querySelector('#notes').replaceChildren()")
        self.browser.click(f"#send-{side}")
        return self.browser.wait("an answer", "return document.querySelector('#notes').textContent")

    def test_the_ticket_sends_every_kind_of_order(self):
        self.log_on()
        self.assertIn("open", self.send("buy", amount="7", price="6000", max_show="2", label="small"))
        self.assertEqual(self.bob.book()["bids"][6000], 2)
        self.browser.wait("its label", "return document.querySelector('#orders tr')?.cells[5].textContent === 'small'")
        self.assertIn("post_only", self.send("sell", amount="1", price="6000", max_show="", post_only="reject"))
        self.assertIn("sell 1 at 6000.25: open", self.send("sell", post_only="reprice"))
        self.assertIn("no_counterparty", self.send("sell", price="6000.5", post_only="", lasting="immediate_or_cancel"))
        self.assertIn("refused", self.send("sell", price="6000", amount="500", lasting="fill_or_kill"))
        self.assertIn("open", self.send("sell", price="6000.5", amount="2", lasting="good_til_day"))
        self.assertIn("filled", self.send("sell", order_type="market", amount="3", lasting="immediate_or_cancel"))
        self.assertIn("open", self.send("sell", order_type="market_limit", amount="9", lasting="good_til_cancelled"))
        self.wait_for_ladder()

    def test_orders_change_and_trades_make_positions_and_profits(self):
        self.log_on()
        self.send("buy", amount="4", price="6000")
        self.browser.click("#orders tr button")
        self.browser.type("#change-amount", "5")
        self.browser.type("#change-price", "6000.25")
        self.browser.click("#change-dialog button[value=change]")
        self.browser.wait("the changed order", "return document.querySelector('#orders')?.textContent.includes('6000.255 of 5')")
        before = self.position()
        self.bob.order("sell", 6000.25, 3)
        self.browser.wait("a rest of two", "return document.querySelector('#orders')?.textContent.includes('2 of 5')")
        there = self.alice.call("private/get_position", instrument_name=ES)
        self.assertEqual(there["size"], before + 3)
        self.browser.wait("the position", """const cells = document.querySelector("#positions tr[data-instrument=ESZ6]")?.cells;
            return cells && [1, 2, 3].every((k) => Number(cells[k].textContent) === arguments[k - 1]);""",
                          there["size"], there["bought"], there["sold"])
        trades = self.alice.call("private/get_user_trades_by_instrument", instrument_name=ES, count=1000)["trades"]
        spent = sum((1 if each["direction"] == "buy" else -1) * each["amount"] * each["price"] for each in trades)
        book = self.bob.book()
        middle = (max(book["bids"]) + min(book["asks"])) / 2
        self.browser.wait("the profit", """const text = document.querySelector("#positions tr[data-instrument=ESZ6] .profit").textContent;
            return Math.abs(Number(text) - arguments[0]) < 0.01""", there["size"] * middle - spent)
        everywhere = self.alice.call("private/get_user_trades_by_currency", currency="any", count=1000)["trades"]
        self.assertEqual(int(self.browser.text("#trades-count")), len(everywhere))
        self.browser.click("#cancel-all")
        self.browser.wait("no orders", "return document.querySelectorAll('#orders tr').length === 0")
        self.assertEqual(self.alice.call("private/get_open_orders"), [])

    def position(self):
        return self.alice.call("private/get_position", instrument_name=ES)["size"]

    def test_a_lost_connection_says_so_and_comes_back_with_the_right_book(self):
        self.log_on()
        self.browser.click(place("buy", 6000))
        self.browser.wait("an order", "return document.querySelectorAll('#orders tr').length === 1")
        self.pages.api, reachable = ("127.0.0.1", 1), self.pages.api
        self.pages.cut()
        try:
            self.browser.wait("a word about it", "return !document.querySelector('#lost').hidden")
            self.assertEqual(self.browser.text("#connection"), "lost")
            self.assertTrue(self.browser.run("return document.querySelector('#ticket-fields').disabled"))
            # Meanwhile the market moves, and the order is filled.
            self.bob.order("sell", 6000, 1)
            self.bob.order("sell", 6000.75, 9)
            self.bob.call("private/cancel_all_by_instrument", instrument_name=CL)
        finally:
            self.pages.api = reachable
        self.browser.wait("a live market", "return document.querySelector('#lost').hidden && document.querySelector('#connection').textContent === 'live'")
        self.assertEqual(self.wait_for_ladder()["asks"][6000.75], 9)
        self.browser.wait("no open order, and still logged on", """return document.querySelectorAll('#orders tr').length === 0 &&
            !document.querySelector('#ticket-fields').disabled""")

    def test_the_heatmap_shows_the_book_and_its_past(self):
        pixels = """const canvas = document.querySelector('#heatmap');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width - 64, canvas.height - 18).data;
            const colours = new Set();
            for (let at = 0; at < data.length; at += 4) colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
            return colours.size;"""
        # Background, the two best prices, and at least two sizes behind them.
        self.browser.wait("a picture", f"return (() => {{ {pixels} }})() >= 5")
        live = "return !document.querySelector('#heatmap-live').classList.contains('off')"
        self.assertTrue(self.browser.run(live))
        self.browser.wait("some past", "return performance.now() > 3000")
        self.browser.drag("#heatmap", 60, 0)
        self.browser.wait("the past", f"return !(() => {{ {live} }})()")
        self.browser.press("\ue010")  # End
        self.browser.wait("now", live)
        for control in ("more-time", "less-time", "more-prices", "less-prices"):
            self.browser.click(f"#heatmap-{control}")
            self.browser.wait("a picture", f"return (() => {{ {pixels} }})() >= 5")

    def test_a_box_in_the_heatmap_counts_what_was_traded_in_it(self):
        self.browser.wait("some past", "return performance.now() > 3000")
        self.bob.order("sell", 6000, 4)
        self.alice.order("buy", 6000, 3)
        self.alice.order("buy", 6000, 1)
        self.browser.wait("the trades", "return document.querySelectorAll('#tape tr').length >= 2")
        time.sleep(1)
        width, height = self.browser.run("const box = document.querySelector('#heatmap').getBoundingClientRect(); return [box.width, box.height];")
        # Columns of before the trades are to the left of the picture's right edge, which is the newest.
        self.browser.drag("#heatmap", int(width / 2 - 70), int(height / 2 - 30), start=(-int(width / 2 - 10), -int(height / 2 - 10)), key=SHIFT)
        text = self.browser.wait("the sums", "return document.querySelector('#heatmap-box').textContent")
        self.assertRegex(text, r" 2 trades, 4 bought, 0 sold, mean price 6000\.000, about \d\d rested$")

    def test_the_heatmap_begins_before_the_page_was_opened(self):
        # The only trade in this instrument, and a book that stays.
        self.bob.order("sell", 69.6, 4, instrument="CLG7")
        self.bob.order("buy", 69.5, 7, instrument="CLG7")
        self.alice.order("buy", 69.6, 4, instrument="CLG7")
        self.bob.order("sell", 69.7, 7, instrument="CLG7")
        traded = time.time()
        time.sleep(1)
        self.load()
        self.choose("CLG7")
        self.browser.wait("columns of before", """return performance.getEntriesByType('resource').some((each) =>
            each.name.includes('/api/v1/columns') && each.name.includes('CLG7'))""")
        self.browser.wait("a live market", "return document.querySelector('#best-bid').textContent === '69.50'")
        # 20 pixels a second: from the left edge to behind the trade.
        width, height, age = self.browser.run("""const box = document.querySelector('#heatmap').getBoundingClientRect();
            return [box.width, box.height, (Date.now() - arguments[0]) / 1000];""", 1000 * traded)
        self.browser.drag("#heatmap", int(width / 2 - 64 - 20 * (age - 0.5)), int(height / 2 - 30), start=(-int(width / 2 - 10), -int(height / 2 - 10)), key=SHIFT)
        text = self.browser.wait("the sums", "return document.querySelector('#heatmap-box').textContent")
        self.assertRegex(text, r" s: 4 bought, 0 sold, mean price 69\.600, about \d+ rested$")

    def test_an_auction_is_announced(self):
        self.choose("WILD")
        self.bob.order("sell", 100, 4, instrument="WILD")
        self.alice.order("buy", 100, 1, instrument="WILD")
        self.browser.wait("continuous trading", "return document.querySelector('#phase').textContent === 'continuous'")
        self.alice.order("buy", 120, 2, instrument="WILD")
        self.browser.wait("the auction", "return document.querySelector('#phase').textContent === 'volatility auction'")
        self.browser.wait("what it would trade", "return document.querySelector('#indicative').textContent === '2 at 100'")

    def test_the_past_shows_the_book_of_any_moment(self):
        self.browser.wait("the panel", "return !document.querySelector('#past-panel').hidden")
        url = f"http://{self.venue.addresses['API']}/api/v1/book?instrument={ES}&depth=10&format=json"
        with urllib.request.urlopen(url, timeout=TIME_LIMIT_S) as answer:
            last = int(answer.headers["Corro-Sequence"])
        shown = """return [...document.querySelectorAll('#past-book tr')].map((row) => [...row.cells].map((cell) => Number(cell.textContent)));"""
        self.browser.click("#past-newest")
        self.browser.wait("the slider to reach it", "return Number(document.querySelector('#past-slider').max) >= arguments[0]", last)
        for moment in (last, last - 1, last - 3, last - 5):
            self.browser.run("""const slider = document.querySelector('#past-slider'); slider.value = arguments[0];
                slider.dispatchEvent(new Event('input'));""", moment)
            self.browser.wait("that moment", "return document.querySelector('#past-time').textContent.startsWith(arguments[0])", f"command {moment},")
            with urllib.request.urlopen(f"{url}&at={moment}&digest=1", timeout=TIME_LIMIT_S) as answer:
                rows = json.load(answer)
                digest = answer.headers["Corro-Digest"]
            bids, asks = ([[row["orders"], row["quantity"], row["price"]] for row in rows if row["side"] == side] for side in ("buy", "sell"))
            there = [(bids[k:k + 1] or [[0, 0, 0]])[0] + (asks[k:k + 1] or [[0, 0, 0]])[0][::-1] for k in range(max(len(bids), len(asks)))]
            self.assertEqual(self.browser.run(shown), there)
        # The address is of this moment, and of this journal.
        address = self.browser.wait("the address", "return location.href.endsWith(arguments[0]) ? location.href : ''", f"#{ES}@{last - 5}:{digest}")
        moment = "return document.querySelector('#past-time').textContent.startsWith(arguments[0])"
        self.browser.open("about:blank")
        self.browser.open(address)
        self.browser.wait("the same moment", moment, f"command {last - 5},")
        self.assertEqual(self.browser.text("#past-link"), "")
        for other, words in ((address[:-16] + "0" * 16, "It is of another journal."), (address.replace(f"@{last - 5}", "@900000000"), "no command 900000000")):
            self.browser.open("about:blank")
            self.browser.open(other)
            self.browser.wait("the difference to be said", "return document.querySelector('#past-link').textContent.includes(arguments[0])", words)
        self.browser.run("""document.querySelector('#past-back').click();""")
        self.browser.wait("the words to go", "return document.querySelector('#past-link').textContent === ''")

    def test_options_have_the_volatility_that_their_prices_imply(self):
        years = (datetime.datetime(2027, 6, 18, 15, tzinfo=datetime.timezone.utc).timestamp() - time.time()) / (365 * 86400)
        for name, right, volatility in (("ES-C6050", "call", 0.2), ("ES-P6050", "put", 0.3)):
            price, delta = black(right, 6000, 6050, years, volatility)
            ticks = round(price / 0.05)
            self.bob.order("buy", round((ticks - 1) * 0.05, 2), instrument=name)
            self.bob.order("sell", round((ticks + 1) * 0.05, 2), instrument=name)
            cells = self.browser.wait("a volatility", """const row = [...document.querySelectorAll('#chain tr')].find((each) => each.textContent.includes('ES-C6050'));
                const at = arguments[0] === 'call' ? 1 : 9;
                const cells = [...row.cells].slice(at, at + 5).map((cell) => cell.textContent);
                return cells[3].endsWith('%') && cells;""", right)
            self.assertEqual(cells[0], name)
            self.assertAlmostEqual(float(cells[3].rstrip("%")), 100 * volatility, delta=0.11)
            self.assertAlmostEqual(float(cells[4]), delta, delta=0.002)

    def test_spreads_show_what_other_books_imply(self):
        for side, price, instrument in (("buy", 70, CL), ("sell", 71, CL), ("buy", 69.5, "CLG7"), ("sell", 69.75, "CLG7")):
            self.bob.order(side, price, instrument=instrument)
        place = """const cell = document.querySelector("#spreads td[data-instrument='" + arguments[0] + "']");
            return cell.textContent.includes(arguments[1]) && cell.textContent;"""
        # What a seller gets and a buyer pays: 70 - 69.75, 71 - 69.5.
        self.browser.wait("the spread", place, "CLF7-CLG7", "implied 0.25 / 1.50")
        self.bob.order("buy", 0.5, instrument="CLF7-CLG7")
        self.browser.wait("its own book", place, "CLF7-CLG7", "0.50 / –")
        self.browser.wait("a leg", place, "CLG7", "69.50 / 69.75")

    def operate(self, action, answer="do", **fields):
        """What the line of an action says; it is the newest one."""
        self.browser.run("""const choice = document.querySelector('#operate-action');
            choice.value = arguments[0]; choice.dispatchEvent(new Event('change'));
            for (const [name, value] of Object.entries(arguments[1])) document.getElementById('operate-' + name).value = value;""", action, fields)
        lines = self.browser.run("return document.querySelector('#operate-lines').childElementCount")
        self.browser.click("#operate-send")
        self.browser.wait("a second question", "return document.querySelector('#operate-dialog').open")
        question = self.browser.text("#operate-question")
        self.browser.click(f"#operate-dialog button[value='{answer}']")
        if answer:
            self.browser.wait("a line", "return document.querySelector('#operate-lines').childElementCount > arguments[0]", lines)
        else:
            self.assertEqual(self.browser.run("return document.querySelector('#operate-lines').childElementCount"), lines)
        return question, self.browser.run("return [...document.querySelectorAll('#operate-lines tr:first-child td')].slice(1).map((cell) => cell.textContent)")

    def test_operators_stop_accounts_and_change_phases_after_a_second_question(self):
        self.log_on()
        self.assertRaises(urllib.error.HTTPError, self.alice.call, "private/get_venue_status")
        self.assertRaises(urllib.error.HTTPError, self.alice.call, "private/kill_account", account_id=2)
        asked = """const row = [...document.querySelectorAll('#answers tr')].find((each) => each.textContent.includes('get_venue_status'));
            return row && Number(row.cells[row.cells.length - 1].textContent);"""
        self.browser.wait("a question", asked)
        self.alice.order("buy", 5990)
        self.browser.wait("an order", "return document.querySelectorAll('#orders tr').length === 1")
        time.sleep(1.2)
        self.assertEqual(self.browser.run(asked), 1, "a key that is not an operator's is asked for once")
        self.assertTrue(self.browser.run("return document.querySelector('#operations-panel').hidden"))
        self.alice.call("private/cancel_all")
        self.load()
        self.log_on("operator")
        self.browser.wait("the panel", "return !document.querySelector('#operations-panel').hidden")
        self.alice.order("buy", 6000)
        question, _ = self.operate("kill", "", account=1)
        self.assertIn("Stop account 1?", question)
        self.assertIn(6000, self.bob.book()["bids"], "without the second answer nothing is done")
        self.assertEqual(self.operate("kill", account=1)[1], ["operator", "Stop account 1", "done"])
        self.assertNotIn(6000, self.bob.book()["bids"])
        self.assertRaises(urllib.error.HTTPError, self.alice.order, "buy", 6000)
        self.assertEqual(self.operate("release", account=1)[1][2], "done")
        self.alice.order("buy", 6000, 3)
        self.assertEqual(self.operate("limits", account=1, order_max=2)[1][1], "Replace the limits of account 1 by order max 2")
        self.assertRaises(urllib.error.HTTPError, self.alice.order, "buy", 5999, 3)
        self.assertEqual(self.operate("limits", account=1, order_max="")[1][1:], ["Replace the limits of account 1 by no limits", "done"])
        self.assertEqual(self.operate("clear", account=1, instrument=ES)[1][2], "1 orders cancelled")
        self.assertEqual(self.operate("phase", phase="halted", instrument=ES)[1][1:], [f"Move {ES} to the phase halted", "done"])
        self.browser.wait("the halt", "return document.querySelector('#phase').textContent === 'halted'")
        self.assertEqual(self.operate("phase", phase="continuous", instrument="")[1][1], "Move all instruments to the phase continuous")
        self.browser.wait("the market", "return document.querySelector('#phase').textContent === 'continuous'")
        self.assertEqual(self.operate("settle", price="20.5", instrument="LAST")[1][1:], ["End LAST at the price 20.5", "done"])
        self.assertIn("refused", self.operate("settle", price="20.5", instrument="LAST")[1][2])
        # The venue's numbers, from its own answer.
        status = Api(self.venue.addresses["API"], "operator").call("private/get_venue_status")[0]
        self.assertEqual(status["journal"], "open")
        shown = self.browser.wait("all commands", """const cells = [...document.querySelectorAll('#venue-status tr:first-child td')].map((cell) => cell.textContent);
            return Number(cells[0]) >= arguments[0] && cells;""", status["last_command"])
        self.assertEqual(shown[5:], [f"{status['sessions']} of {status['sessions_max']}", "takes all commands"])
        # As if the disk were full.
        self.browser.run("""const was = JSON.parse; JSON.parse = (text) => {
            const value = was(text);
            if (Array.isArray(value.result) && value.result[0]?.journal) value.result[0].journal = 'cancels_only';
            return value;
        };""")
        self.browser.wait("an alert", "return document.querySelector('#notes').textContent.includes('partition 1: the journal takes cancels only')")
        self.browser.wait("it in the table", "return document.querySelector('#venue-status .bad')?.textContent.includes('the disk is full')")
        if os.path.exists(AXE):
            with open(AXE, encoding="utf-8") as file:
                faults = self.browser.run(file.read() + """; return axe.run('#operations-panel').then((found) =>
                    found.violations.map((each) => [each.id, each.nodes[0].html]));""")
            self.assertEqual(faults, [])

    def test_keys_move_and_explain(self):
        self.browser.press("?")
        self.browser.wait("the keys", "return document.querySelector('#help-dialog').open")
        self.browser.click("#help-dialog button")
        self.browser.wait("no list", "return !document.querySelector('#help-dialog').open")
        theme = self.browser.run("return document.documentElement.dataset.theme")
        self.browser.press("t")
        self.browser.wait("the other theme", "return document.documentElement.dataset.theme !== arguments[0]", theme)
        self.log_on()
        self.browser.run("document.activeElement.blur()")
        self.browser.press("b")
        self.assertEqual(self.browser.run("return [document.activeElement.id, document.querySelector('#price').value]"),
                         ["send-buy", "5999.00"])
        self.browser.press("\ue007")
        self.browser.wait("an order", "return document.querySelectorAll('#orders tr').length === 1")
        self.browser.run("document.activeElement.blur()")
        self.browser.press("x")
        self.browser.wait("no order", "return document.querySelectorAll('#orders tr').length === 0")

    def test_a_first_visit_is_guided(self):
        self.browser.run("localStorage.clear()")
        self.browser.open(self.address)
        self.browser.wait("the tour", "return document.querySelector('#tour-dialog').open")
        titles = []
        while self.browser.run("return document.querySelector('#tour-dialog').open"):
            titles.append(self.browser.text("#tour-title"))
            self.browser.click("#tour-next")
        self.assertEqual(len(set(titles)), 5)

    def test_fits_small_screens(self):
        self.addCleanup(self.browser.resize, 1600, 1000)
        for width in (500, 900):
            self.browser.resize(width, 800)
            self.load()
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
            self.wait_for_ladder()

    @unittest.skipUnless(os.path.exists(AXE), "web/node_modules is missing: npm ci --prefix web")
    def test_axe_finds_no_fault(self):
        with open(AXE, encoding="utf-8") as file:
            axe = file.read()
        self.log_on()
        self.browser.click(place("buy", 6000))
        self.browser.wait("an order", "return document.querySelectorAll('#orders tr').length === 1")
        for theme in ("dark", "light"):
            for colours in ("blue", "green"):
                self.browser.run("""localStorage.setItem('corro-theme', arguments[0]); localStorage.setItem('corro-colours', arguments[1]);""",
                                 theme, colours)
                self.load()
                # Colours differ in contrast only.
                rules = {} if (theme, colours) in (("dark", "blue"), ("light", "green")) else {"runOnly": ["color-contrast"]}
                faults = self.browser.run(axe + """; return axe.run(arguments[0]).then((found) => found.violations.map((each) =>
                    [each.id, each.impact, each.nodes.slice(0, 3).map((node) => node.html + ' ' + node.failureSummary)]));""", rules)
                self.assertEqual(faults, [], f"{theme}, {colours}")
        self.browser.run("localStorage.clear()")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
