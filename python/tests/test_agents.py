# SPDX-License-Identifier: Apache-2.0
"""Agents in Python: coroutines and plain functions on the market's clock, crowds that act as arrays."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import weakref

import numpy as np
import pytest
from conftest import measures_memory
from test_market import small

import corro


def run(agents, seed=3, until="8s", **options):
    market = corro.Market(small(), seed=seed, agents=agents, **options)
    market.run(until)
    return market


async def idle(me):
    while await me.sleep("100ms"):
        me.quote()


def quiet(batch):
    return None


async def maker(me, half=0.5):
    while await me.sleep(me.random.expovariate(4)):
        quote = me.quote()
        if quote.mid == quote.mid:
            await me.cancel_all()
            me.buy(None, 2, round((quote.mid - half) * 4) / 4)
            await me.sell(None, 2, round((quote.mid + half) * 4) / 4)


def crosser(me):
    if me.random.random() < 0.5:
        me.buy("ESZ6", 1)
    else:
        me.sell("ESZ6", 1)
    return 0.05


def crowd(batch):
    side = batch.random.choice([-1, 1], len(batch))
    return corro.Actions(side, batch.last - side * batch.random.exponential(0.5, len(batch)), cancel=batch.open_orders > 0)


def test_agents_that_do_nothing_change_nothing():
    expected = corro.Market(small(), seed=3)
    expected.run("8s")
    agents = {"one": idle, "two": lambda me: 0.3, "crowd": corro.Crowd(quiet, 50, "50ms", beside="noise")}
    assert run(agents).result.digest == expected.result.digest


@pytest.mark.parametrize("agents", [
    {"me": maker},
    {"me": crosser},
    {"makers of mine": corro.Agents(maker, count=3, beside="noise", half=0.75), "me": crosser},
    {"crowd": corro.Crowd(crowd, 40, "100ms", beside="noise")},
])
def test_the_same_code_and_seed_give_the_same_market(agents):
    first = run(agents)
    assert first.result == run(agents).result
    assert first.result.digest != run(agents, seed=4).result.digest
    assert first.result.digest != run({}).result.digest, "the agents do something"
    assert first.positions["position"].sum() == 0
    steps = corro.Market(small(), seed=3, agents=agents)
    while steps.elapsed < np.timedelta64(8, "s"):
        steps.step("130ms" if steps.elapsed < np.timedelta64(7, "s") else 8 - steps.elapsed / np.timedelta64(1, "s"))
    assert steps.result.digest == first.result.digest, "how a run is cut into steps does not matter"


def test_a_coroutine_sees_answers_reasons_fills_and_time():
    seen = {}

    async def trader(me):
        seen["start"] = me.time
        assert await me.sleep(2.0)
        seen["later"] = me.time
        quote = me.quote("ESZ6")
        order = me.buy("ESZ6", 3, quote.bid - 1)
        assert me.orders["state"].tolist() == ["sent"]
        answer = await order
        assert answer and answer == corro.Answer(True, "")
        seen["answered"] = me.time
        assert await me.amend(order, quantity=2)
        assert me.orders["open"].tolist() == [2] and me.orders["number"].tolist() == [order.number]
        assert await me.cancel(order) and len(me.orders) == 0
        refused = await me.buy("ESZ6", 1, me.quote().ask + 1, post_only=True)
        seen["refused"] = refused
        taken = me.sell("ESZ6", 4)
        assert await me.next_answer(timeout="5s")
        while me.position() != -4:
            await me.next_answer(timeout="1s")
        fills = me.fills()
        assert set(fills["number"]) == {taken.number} and fills["quantity"].sum() == 4
        before = me.time
        assert not await me.next_trade(timeout=0.0)
        assert me.time == before
        assert await me.next_quote("ESZ6") and await me.next_trade("ESZ6") and await me.next_news()
        seen["end"] = me.time

    market = run({"me": corro.Agents(trader, beside="noise")}, until="20s")
    assert seen["start"] == 1e-9 and seen["later"] == 2.000000001
    assert seen["answered"] > seen["later"] + 0.004, "two ways of two milliseconds and more"
    assert not seen["refused"] and seen["refused"].reason, seen["refused"]
    assert seen["end"] < 20
    held = market.positions.to_numpy()
    mine = held[held["agent"] == "me"][0]
    assert mine["position"] == market.agent("me").position() == -4
    assert mine["account"] == market.scenario.agents + 2


def test_a_crowd_acts_at_its_times_with_what_each_member_knows():
    seen = []

    def act(batch):
        seen.append((batch.time, batch.bid.copy(), batch.position.copy(), batch.open_orders.copy()))
        if len(seen) == 20:
            return corro.Actions(agent=np.array([7, 7, 2]), side=[1, 5, -1], price=[np.inf, np.nan, -np.inf], quantity=[3, 1, 2])
        if len(seen) == 30:
            return corro.Actions(agent=[5], side=1, price=batch.bid[5] - 3.1)
        return corro.Actions(agent=[5], side=0, price=np.nan, cancel=True) if len(seen) == 35 else None

    market = corro.Market(small(), seed=3, agents={"crowd": corro.Crowd(act, 10, "100ms", beside="noise", instrument="ESZ6")})
    market.run("5s")
    assert [round(each[0], 9) for each in seen] == [round(0.1 * (i + 1), 9) for i in range(50)]
    assert max(len(set(each[1][~np.isnan(each[1])])) for each in seen) > 1, "links differ, and so does what they see"
    assert seen[-1][2].tolist() == [0, 0, -2, 0, 0, 0, 0, 3, 0, 0]
    assert [each[3].sum() for each in seen][30:35] == [1] * 5 and seen[-1][3].sum() == 0
    held = market.positions.to_numpy()
    assert {"crowd-8", "crowd-3"} <= set(held["agent"])


def test_a_side_may_be_the_sign_of_a_difference():
    def act(batch):
        return corro.Actions([0.25, np.nan, -np.inf, 0.0], [2400.0, 2400.0, 2600.0, 2600.0])

    market = run({"crowd": corro.Crowd(act, 4, "1s")}, until="1500ms", record=("orders",))
    orders = market.orders.to_numpy()
    first = market.scenario.agents + 2
    mine = orders[(orders["account"] >= first) & (orders["event"] == "accepted")]
    assert [(each["account"] - first, each["side"], each["price"]) for each in mine] == [(0, "buy", 2400.0), (2, "sell", 2600.0)]


def test_the_price_of_a_crowd_is_the_nearest_that_the_instrument_accepts():
    def act(batch):
        return corro.Actions(agent=[0], side=1, price=2400.1)

    market = run({"crowd": corro.Crowd(act, 1, "1s")}, until="1500ms", record=("orders",))
    orders = market.orders.to_numpy()
    mine = orders[(orders["account"] == market.scenario.agents + 2) & (orders["event"] == "accepted")]
    assert mine["price"].tolist() == [2400.0]


@pytest.mark.parametrize(("given", "kind", "message"), [
    ({"agent": np.arange(5) >= 3}, TypeError, "np.flatnonzero"),
    ({"agent": np.array([2**32 + 1])}, ValueError, "agent has values from 4294967297"),
    ({"side": np.ma.masked_array(np.ones(5, int), mask=[1, 0, 0, 0, 0])}, TypeError, "side is masked"),
    ({"quantity": np.full(5, 2**63, np.uint64)}, ValueError, "quantity has values from"),
])  # fmt: skip
def test_rows_of_a_crowd_that_mean_something_else_are_refused(given, kind, message):
    def act(batch):
        return corro.Actions(**{"side": 1, "price": 2400.0, **given})

    with pytest.raises(kind, match=message):
        run({"crowd": corro.Crowd(act, 5, "1s")}, until="1500ms")


def test_any_number_but_zero_cancels():
    def act(batch):
        return corro.Actions(side=1, price=2400.0, cancel=np.full(len(batch), 256))

    market = run({"crowd": corro.Crowd(act, 2, "1s")}, until="2500ms", record=("orders",))
    orders = market.orders.to_numpy()
    assert (orders[orders["account"] >= market.scenario.agents + 2]["event"] == "cancelled").sum() == 2


class Mistake(Exception):
    pass


def test_an_exception_comes_out_of_the_run_and_ends_the_market():
    async def wrong(me):
        await me.sleep(1.0)
        raise Mistake("here")

    market = corro.Market(small(), agents={"me": wrong})
    with pytest.raises(Mistake, match="here") as caught:
        market.run("5s")
    assert any(each.name == "wrong" for each in caught.traceback)
    with pytest.raises(ValueError, match="has failed; make the market again"):
        market.run("6s")


async def awaits_asyncio(me):
    await asyncio.sleep(1)


async def runs_the_market(me, market):
    market[0].run("9s")


async def awaits_late(me):
    first = me.buy("ESZ6", 1)
    await me.sleep(1.0)
    await first


async def trades_nothing(me):
    me.buy("CLZ6", 1)


async def waits_for_nothing(me):
    await me.next_trade("CLZ6")


async def off_tick(me):
    me.buy("ESZ6", 1, 2500.1)


async def amends_nothing(me):
    me.amend(5, quantity=1)


def crowds(**actions):
    return corro.Crowd(lambda batch: corro.Actions(**{"side": 1, "price": 2500.0, **actions}), 4, "1s")


WRONG = [
    ({"me": awaits_asyncio}, (TypeError, RuntimeError), "belongs to another loop|no running event loop"),
    ({"me": awaits_late}, RuntimeError, "await a request before any other wait"),
    ({"me": trades_nothing}, ValueError, 'no instrument "CLZ6"'),
    ({"me": waits_for_nothing}, ValueError, 'no instrument "CLZ6"'),
    ({"me": off_tick}, ValueError, "ESZ6 trades in steps of 0.25"),
    ({"me": amends_nothing}, ValueError, "order 5: it is not open"),
    ({"me": lambda me: -1}, ValueError, "result of an agent's function=-1"),
    ({"me": lambda me: "soon"}, ValueError, 'result of an agent\'s function="soon" is not a duration'),
    ({"me": lambda: None}, TypeError, "takes 0 positional arguments"),
    ({"me": 3}, TypeError, "function=3"),
    ({"": idle}, ValueError, "is no name"),
    ([idle], TypeError, "give a dictionary from names"),
    ({"noise-1": idle}, ValueError, '"noise-1": an agent has this name'),
    ({"me": corro.Agents(idle, beside="whales")}, ValueError, 'no group "whales"'),
    ({"me": corro.Crowd(quiet, 3, "1s", instrument="CLZ6")}, ValueError, "give its instrument, one of: ESZ6"),
    ({"me": corro.Crowd(lambda batch: 3, 3, "1s")}, TypeError, "returned int; return corro.Actions"),
    ({"me": crowds(side=[1, 2])}, ValueError, r"side has the shape \(2,\); give 4 values, or one"),
    ({"me": crowds(side=True)}, TypeError, "side has the type bool"),
    ({"me": crowds(side="buy")}, TypeError, "side has the type"),
    ({"me": crowds(quantity=1.5)}, TypeError, "quantity has the type float64; give whole numbers"),
    ({"me": crowds(quantity=0)}, ValueError, r"quantity\[0\]=0: a positive multiple of 1"),
    ({"me": crowds(price="2500")}, TypeError, "price has the type"),
    ({"me": crowds(agent=[4])}, ValueError, r"agent\[0\]=4: from 0 to 3"),
    ({"me": crowds(agent=3)}, ValueError, r"agent has the shape \(\); give one dimension"),
    ({"me": crowds(time_in_force="later")}, ValueError, 'time_in_force="later"'),
]


@pytest.mark.parametrize("agents, kind, message", WRONG)
def test_a_mistake_is_answered_with_what_to_do(agents, kind, message):
    with pytest.raises(kind, match=message):
        run(agents, until="3s")


@pytest.mark.parametrize("make, kind, message", [
    (lambda: corro.Crowd(quiet, 0, "1s"), ValueError, "count=0"),
    (lambda: corro.Crowd(quiet, 2, 0), ValueError, "every=0"),
    (lambda: corro.Crowd(None, 2, 1), TypeError, "act=None"),
    (lambda: corro.Agents(idle, count=1.5), TypeError, "count=1.5"),
    (lambda: corro.Market(small()).agent("me"), KeyError, 'no agent "me"; there are: none'),
])
def test_a_wrong_argument_is_answered_with_what_to_do(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_an_agent_cannot_run_its_market():
    place = []
    market = corro.Market(small(), agents={"me": corro.Agents(runs_the_market, market=place)})
    place.append(market)
    with pytest.raises(ValueError, match="an agent of it cannot run it"):
        market.run("1s")


def test_threads_that_look_at_a_running_market_wait_for_their_turn():
    market = corro.Market(small(), seats=["seat"], agents={"me": maker, "you": crosser})
    results = []

    def look():
        for _ in range(200):
            results.append((market.seat("seat").quote(), market.elapsed, market.agent("me").position()))

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    market.run("12s")
    for thread in threads:
        thread.join(timeout=60)
    assert len(results) == 600
    assert market.result.digest == run({"me": maker, "you": crosser}, seed=market.seed, until="12s", seats=["seat"]).result.digest


def test_a_market_with_agents_leaves_nothing_behind():
    ended = []

    async def never_ends(me):
        try:
            while await me.sleep(0.5):
                await me.buy("ESZ6", 1)
        finally:
            ended.append(me.name)

    market = run({"me": never_ends, "crowd": corro.Crowd(quiet, 3, "1s")}, until="2s")
    gone = [weakref.ref(market), weakref.ref(market.agent("me"))]
    del market
    gc.collect()
    assert [each() for each in gone] == [None, None] and ended == ["me"]


def test_a_fork_has_the_same_agents():
    market = run({"me": maker, "you": crosser, "crowd": corro.Crowd(crowd, 5, "200ms")}, until="4s")
    fork = market.fork()
    assert fork.run("8s").digest == market.run("8s").digest
    assert fork.agent("me").position() == market.agent("me").position()

    calls = []

    def remembers(me):
        calls.append(me)
        me.buy("ESZ6", 1 + len(calls))
        return 0.5

    with pytest.raises(RuntimeError, match="depend on nothing but their arguments"):
        run({"me": remembers}, until="4s").fork()


def resident_kib() -> int:
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@measures_memory
def test_many_markets_leave_no_memory():
    used = []
    for seed in range(120):
        market = run({"me": crosser, "you": maker, "crowd": corro.Crowd(crowd, 5, "200ms")}, seed=seed, until="400ms",
                     record=("trades", "orders"), seats=["seat"])
        assert len(market.orders) and market.book() and len(market.positions) and market.metrics
        used.append(resident_kib())
    assert used[-1] - used[39] < 2_000, "eighty markets more take no memory"


def test_a_forked_process_runs_the_same_market():
    expected = run({"me": maker}, until="2s").result.digest
    market = corro.Market(small(), seed=3, agents={"me": maker})
    market.run("1s")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            market.run("2s")
            os.write(writer, f"{market.result.digest} {run({'me': maker}, until='2s').result.digest}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        assert answers.read() == f"{expected} {expected}"
    os.waitpid(child, 0)
    market.run("2s")
    assert market.result.digest == expected
