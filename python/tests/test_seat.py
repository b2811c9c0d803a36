# SPDX-License-Identifier: Apache-2.0
"""Seats: one's own trader in a simulated market."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import SCENARIOS
from test_market import small

import corro


def test_a_seat_that_does_nothing_changes_nothing():
    expected = corro.Market(small()).run()
    assert corro.Market(small(), seats=["me"]).run().digest == expected.digest
    assert corro.Market(small(), seats={"me": "makers", "you": None}).run().digest == expected.digest


def test_orders_travel_rest_trade_and_come_back():
    market = corro.Market(small(), seats={"me": "noise"}, record=("trades", "orders"))
    me = market.seat("me")
    market.run("2s")
    quote = me.quote()
    assert quote.bid < quote.ask and quote.time <= market.now
    number = me.buy(3, quote.bid - 1)
    orders = me.orders.to_numpy()
    assert (orders["number"].tolist(), orders["state"].tolist(), orders["open"].tolist()) == ([number], ["sent"], [3])
    market.step("1ms")
    assert me.orders["state"].tolist() == ["sent"], "the link takes two milliseconds at least"
    market.run("6s")
    assert me.orders["state"].tolist() == ["open"]
    me.amend(number, price=quote.bid - 2, quantity=2)
    market.run("10s")
    assert (me.orders["price"].tolist(), me.orders["open"].tolist()) == ([quote.bid - 2], [2])
    me.cancel(number)
    assert me.orders["state"].tolist() == ["cancelling"]
    market.run("14s")
    assert len(me.orders) == 0 and me.position() == 0 and len(me.fills()) == 0
    taken = me.sell(4)
    market.run("18s")
    fills = me.fills()
    assert me.position() == -fills["quantity"].sum() < 0
    assert set(fills["number"]) == {taken} and fills["aggressor"].all() and set(fills["side"]) == {"sell"}
    assert len(me.fills()) == 0, "each fill comes once"
    held = market.positions.to_numpy()
    mine = held[held["agent"] == "me"][0]
    assert mine["position"] == me.position() and mine["account"] == market.scenario.agents + 2
    assert me.holdings["cash"][0] == mine["cash"] == pytest.approx((fills["price"] * fills["quantity"]).sum())
    assert me.profit() == pytest.approx(me.profit("ESZ6"))
    accepted = market.orders.to_numpy()
    accepted = accepted[(accepted["event"] == "accepted") & (accepted["account"] == mine["account"])]
    assert accepted["type"].tolist() == ["limit", "market"]


def run_a_maker(seed, seats):
    market = corro.Market(small(), seed=seed, seats=seats)
    me = market.seat("me")
    while market.step("200ms"):
        quote = me.quote()
        if quote.bid == quote.bid and quote.ask == quote.ask:
            me.cancel_all()
            me.buy(2, quote.bid)
            me.sell(2, quote.ask)
    return market, me


def test_the_same_requests_give_the_same_market():
    first, me = run_a_maker(3, ["me"])
    second, _ = run_a_maker(3, ["me"])
    assert first.result == second.result
    assert len(me.fills()) > 0
    assert first.result.digest != corro.Market(small(), seed=3).run().digest
    slow, _ = run_a_maker(3, {"me": "noise"})
    assert slow.result.digest != first.result.digest, "a link takes time"
    assert first.positions["position"].sum() == 0


def test_what_a_seat_sees_is_late():
    market = corro.Market(small(), seats={"near": None, "far": "noise"}, record=("quotes",))
    near, far = market.seat("near"), market.seat("far")
    later = 0
    while market.step("250ms"):
        now, before = near.quote(), far.quote()
        assert before.time <= now.time <= market.now
        later += before.time < now.time
        last = market.quotes.to_numpy()[-1]
        assert np.array_equal([now.bid, now.ask], [last["bid_price"], last["ask_price"]], equal_nan=True)
    assert later > 0


WRONG = [
    (lambda m, s: corro.Market(small(), seats="me"), TypeError, r'seats=\["me"\]'),
    (lambda m, s: corro.Market(small(), seats=["me", "me"]), ValueError, "there twice"),
    (lambda m, s: corro.Market(small(), seats=[""]), ValueError, "is no name"),
    (lambda m, s: corro.Market(small(), seats=["noise-1"]), ValueError, "an agent has this name"),
    (lambda m, s: corro.Market(small(), seats={"me": "whales"}), ValueError, 'no group "whales".*there are: noise, makers'),
    (lambda m, s: m.seat("you"), KeyError, 'there are: "me"'),
    (lambda m, s: corro.Market(small()).seat("you"), KeyError, "make the market with seats="),
    (lambda m, s: s.buy(1, 2500.1), ValueError, "price=2500.1: ESZ6 trades in steps of 0.25"),
    (lambda m, s: s.buy(1, 10), ValueError, "prices of ESZ6 are from 1000 to 4000"),
    (lambda m, s: s.buy(0, 2500), ValueError, "quantity=0: give an int from 1 on"),
    (lambda m, s: s.buy(1.5, 2500), TypeError, "quantity=1.5: give an int"),
    (lambda m, s: s.buy(1, 2500, time_in_force="soon"), ValueError, '"day", "gtc", "ioc" or "fok"'),
    (lambda m, s: s.buy(1, 2500, instrument="NONE"), ValueError, 'no instrument "NONE"'),
    (lambda m, s: s.cancel(99), ValueError, "order 99: it is not open"),
    (lambda m, s: s.amend(99, quantity=1), ValueError, "order 99: it is not open"),
    (lambda m, s: s.amend(99), ValueError, "give a price, a quantity, or both"),
    (lambda m, s: corro.Market(SCENARIOS / "calendar.toml", seats=["a"]).seat("a").quote(), ValueError, "several instruments"),
]


@pytest.mark.parametrize("wrong", range(len(WRONG)))
def test_a_wrong_argument_is_answered_with_what_to_do(wrong):
    call_it, kind, message = WRONG[wrong]
    market = corro.Market(small(), seats=["me"])
    with pytest.raises(kind, match=message):
        call_it(market, market.seat("me"))
