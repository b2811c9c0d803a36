# SPDX-License-Identifier: Apache-2.0
"""A venue of the program, and clients on it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

import corro
from corro import wire

TIME_LIMIT = 120


def run(work):
    """Runs a coroutine to its end; only one that hangs gets to the limit."""

    async def limited():
        return await asyncio.wait_for(work, TIME_LIMIT)

    return asyncio.run(limited())


def test_two_clients_trade_and_the_feed_shows_it(corro_venue):
    async def work():
        async with (
            await corro.Client.connect(corro_venue, "alice") as alice,
            await corro.Client.connect(corro_venue, "bob") as bob,
            await corro.Feed.connect(corro_venue) as feed,
        ):
            assert set(alice.instruments) == set(feed.instruments) == {"ESZ6", "CLF7"}
            resting = await alice.sell("ESZ6", 10, 5998.75)
            assert (resting.status, resting.open, resting.filled) == ("open", 10, 0)
            assert resting.id and alice.orders == [resting]
            taking = await bob.buy("ESZ6", 4, Decimal("5999"))
            assert (taking.status, taking.filled, taking.average_price) == ("filled", 4, 5998.75)
            assert taking.fills[0].is_aggressor
            while resting.filled == 0:
                await asyncio.sleep(0.01)
            assert (resting.open, resting.status, resting.fills[0].quantity) == (6, "open", 4)
            await alice.amend(resting, quantity=8)
            assert (resting.open, resting.quantity) == (4, 8)
            await alice.amend(resting, price="6000.25")
            assert resting.price == 6000.25
            async for message in feed:
                if isinstance(message, wire.LevelChanged) and message.price == 6_000_250_000_000:
                    break
            bids, asks = feed.book("ESZ6")
            assert len(bids["price"]) == 0
            assert (asks["price"].tolist(), asks["quantity"].tolist(), asks["orders"].tolist()) == ([6000.25], [4], [1])
            assert feed.last("ESZ6") == 5998.75 and feed.volume("ESZ6") == 4
            assert math.isnan(feed.last("CLF7"))
            await alice.cancel(resting)
            assert (resting.status, resting.reason, resting.is_over) == ("cancelled", "", True)
            assert await resting.over() is resting
            assert alice.orders == []

    run(work())


def test_rejects_and_cancels_say_why(corro_venue):
    async def work():
        async with await corro.Client.connect(corro_venue, "alice") as alice:
            with pytest.raises(corro.Rejected, match=r"rejected: price_off_tick \(buy 1 ESZ6 at 5998.8\)") as caught:
                await alice.buy("ESZ6", 1, 5998.8)
            assert caught.value.reason == wire.RejectReason.PRICE_OFF_TICK
            assert caught.value.order.status == "rejected"
            with pytest.raises(corro.Rejected, match="no_counterparty"):
                await alice.buy("ESZ6", 1, 5999, time_in_force="ioc")
            async with await corro.Client.connect(corro_venue, "bob") as bob:
                offered = await bob.sell("ESZ6", 2, 5999)
                part = await alice.buy("ESZ6", 5, 5999, time_in_force="ioc")
                assert (part.status, part.filled, part.average_price) == ("cancelled", 2, 5999)
                assert (await offered.over()).status == "filled"
            order = await alice.buy("ESZ6", 2, 5000)
            with pytest.raises(corro.Rejected, match="would_take_liquidity|self_match"):
                await alice.sell("ESZ6", 1, 4999, post_only=True)
            await alice.cancel(order)
            with pytest.raises(corro.Rejected, match="order_not_open"):
                await alice.cancel(order)
            assert order.status == "cancelled"
            with pytest.raises(corro.Refused, match=r"refused: invalid_value \(request \d+, field \d+\)"):
                await alice.request(_Unknown())
            assert await alice.cancel_all() == 0
            for price in (4000, 4001, 4002):
                await alice.buy("CLF7" if price == 4002 else "ESZ6", 1, 400 if price == 4002 else price)
            assert {each.instrument for each in await alice.open_orders()} == {1, 2}
            assert await alice.cancel_all("ESZ6", side="buy") == 2
            assert await alice.cancel_all() == 1
            assert await alice.open_orders() == []

    run(work())


@dataclasses.dataclass
class _Unknown(wire.CancelOrders):
    """A mass cancel with a scope that the schema does not have."""

    def block(self):
        block = bytearray(super().block())
        block[4] = 77
        return bytes(block)


def test_amends_under_way_are_the_base_of_later_ones(corro_venue):
    async def work():
        async with await corro.Client.connect(corro_venue, "alice") as alice:
            order = await alice.buy("ESZ6", 1, 5000)
            forgotten = asyncio.create_task(alice.amend(order, quantity=7))
            await asyncio.sleep(0)
            forgotten.cancel()
            await alice.amend(order, price=4999)
            assert (await alice.open_orders())[0].quantity == order.quantity == 7
            await asyncio.gather(alice.amend(order, quantity=9), alice.amend(order, price=4998))
            status = (await alice.open_orders())[0]
            assert (status.quantity, status.price) == (9, 4998 * 10**9) and (order.quantity, order.price) == (9, 4998)
            refused = await asyncio.gather(alice.amend(order, price=5.1), alice.amend(order, quantity=3), return_exceptions=True)
            assert [type(each) for each in refused] == [corro.Rejected, corro.Rejected], "the second one has the price of the first"
            await alice.amend(order, quantity=4)
            assert (order.quantity, order.price, order._amends) == (4, 4998, [])

    run(work())


def test_a_number_is_for_one_open_order(corro_venue):
    async def work():
        async with await corro.Client.connect(corro_venue, "alice") as alice, await corro.Client.connect(corro_venue, "bob") as bob:
            order = await alice.buy("ESZ6", 1, 5000, client_order=7)
            with pytest.raises(ValueError, match="client_order=7: buy 1 ESZ6 at 5000 has this number and is not over; give another one"):
                await alice.buy("ESZ6", 1, 4999, client_order=7)
            await bob.sell("ESZ6", 1, 5000)
            assert (await order.over()).filled == 1
            assert (await alice.buy("ESZ6", 1, 4999, client_order=7)).status == "open"
            following = (await alice.buy("ESZ6", 1, 4998)).client_order + 1
            assert (await alice.buy("ESZ6", 1, 4998, client_order=following)).status == "open"
            assert (await alice.buy("ESZ6", 1, 4998)).status == "open"
            # A message of one's own that trades at once is answered too.
            mine = wire.EnterOrder(client_order=9, price=4_000 * 10**9, quantity=1, instrument=1, side=wire.Side.SELL)
            assert isinstance((await alice.request(mine))[-1], wire.OrderExecuted)
        with pytest.raises(corro.SessionError, match="is closed"):
            await alice.buy("ESZ6", 1, 4998, client_order=7)

    run(work())


def test_waiting_for_an_order_ends_with_the_session(corro_venue):
    async def work():
        carol = await corro.Client.connect(corro_venue, "carol")
        order = await carol.buy("ESZ6", 1, 5000)
        waiting = asyncio.create_task(order.over())
        await asyncio.sleep(0)
        await carol.close()
        if not order.is_over:
            with pytest.raises(corro.SessionError, match="the session is closed; buy 1 ESZ6 at 5000 was open"):
                await waiting
        alice = await corro.Client.connect(corro_venue, "alice")
        order = await alice.buy("ESZ6", 1, 5000)
        waiting = asyncio.create_task(order.over())
        await asyncio.sleep(0)
        corro_venue.kill()
        with pytest.raises(corro.SessionError, match="is lost.*; buy 1 ESZ6 at 5000 was open"):
            await waiting
        assert not order.is_over
        await alice.close()

    run(work())


def test_what_cannot_be_sent_leaves_nothing(corro_venue):
    async def work():
        async with await corro.Client.connect(corro_venue, "alice") as alice:
            for terms, argument in (({"quantity": 2**63}, "quantity"), ({"quantity": 1, "minimum_quantity": 2**64}, "minimum_quantity"),
                                    ({"quantity": 1, "display_quantity": -1}, "display_quantity=-1: give a number from 0 to"),
                                    ({"quantity": 1, "client_order": 2**64}, "client_order")):
                with pytest.raises(ValueError, match=f"^{argument}"):
                    await alice.buy("ESZ6", price=5000, **terms)
            assert alice.orders == [] and await alice.open_orders() == []
            assert (await alice.buy("ESZ6", 1, 5000)).status == "open"

    run(work())


def is_running(process_id):
    try:
        with open(f"/proc/{process_id}/stat", encoding="utf-8") as file:
            return file.read().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False


def test_a_venue_that_is_forgotten_or_interrupted_ends(tmp_path, corro_program):
    script = """
import os, signal, sys, threading
import corro
if sys.argv[1] == "interrupted":
    import corro._serve
    make = corro._serve.subprocess.Popen
    def started(*given, **more):
        process = make(*given, **more)
        print(process.pid, more and given[0][-1], flush=True)
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        return process
    corro._serve.subprocess.Popen = started
    try:
        corro.serve()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    sys.stdin.read()
else:
    venue = corro.serve(journal=True)
    print(venue._process.pid, venue.config, flush=True)
    if sys.argv[1] == "deleted":
        del venue
        print("deleted", flush=True)
        sys.stdin.read()
    if sys.argv[1] == "forked":
        with venue:
            if os.fork() == 0:
                sys.exit(0)
            os.wait()
            print(venue.is_running, flush=True)
"""
    for how, then in (("ended", ""), ("deleted", "deleted"), ("interrupted", "interrupted"), ("forked", "True")):
        with subprocess.Popen([sys.executable, "-c", script, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "CORRO_PROGRAM": corro_program}) as python:
            process, config = python.stdout.readline().split()
            if then:
                assert python.stdout.readline().strip() == then, how
            if how == "deleted" or how == "interrupted":
                assert not is_running(process), how
            python.communicate()
        assert not is_running(process) and not os.path.exists(os.path.dirname(config)), how


def test_a_venue_whose_folder_is_gone_does_not_start_again(corro_program):
    with corro.serve(program=corro_program) as venue:
        venue.stop()
        venue.start()
        assert venue.is_running
    assert not venue.folder.exists()
    with pytest.raises(RuntimeError, match="corro.serve starts another venue"):
        venue.start()


def test_pages_of_open_orders_have_all(corro_venue):
    async def work():
        async with await corro.Client.connect(corro_venue, "alice") as alice:
            orders = await asyncio.gather(*(alice.buy("ESZ6", 1, 2000 + i) for i in range(300)))
            found = await alice.open_orders()
            assert [each.client_order for each in found] == [each.client_order for each in orders]

    run(work())


def test_messages_come_in_order_to_all_who_listen(corro_venue):
    async def work():
        async with await corro.Client.connect(corro_venue, "alice") as alice:
            seen = []

            async def listen():
                async for message in alice.messages():
                    seen.append(message.NAME)

            listening = asyncio.ensure_future(listen())
            await asyncio.sleep(0)
            order = await alice.buy("ESZ6", 3, 5000)
            await alice.cancel(order)
        await listening
        assert seen == ["order_entered", "order_cancelled"]

    run(work())


def test_logons_are_refused_with_the_reason(corro_venue):
    async def work():
        with pytest.raises(corro.LoggedOut, match="authentication_failed"):
            await corro.Client.connect(corro_venue, 1, key="00" * 32)
        async with await corro.Client.connect(corro_venue, "alice") as first:
            with pytest.raises(corro.LoggedOut, match="already_logged_on"):
                await corro.Client.connect(corro_venue, "alice")
            async with await corro.Client.connect(corro_venue, "alice", take_over=True):
                with pytest.raises(corro.LoggedOut, match="taken_over"):
                    await first.buy("ESZ6", 1, 5000)
                    await first.buy("ESZ6", 1, 5000)

    run(work())


@pytest.mark.corro_venue(journal=True)
def test_a_client_goes_on_after_a_crash_of_the_venue(corro_venue):
    """Requests that are under way when the venue is killed count once, and all of them."""

    async def work():
        loop = asyncio.get_running_loop()
        async with await corro.Client.connect(corro_venue, "alice", reconnect=60, cancel_on_disconnect=False) as alice:
            before = await alice.buy("ESZ6", 1, 4000)
            under_way = [asyncio.ensure_future(alice.buy("ESZ6", 1, 3000 + i)) for i in range(200)]
            await asyncio.sleep(0.005)
            await loop.run_in_executor(None, corro_venue.kill)
            await asyncio.sleep(0.1)
            late = asyncio.ensure_future(alice.buy("CLF7", 1, 60))
            await loop.run_in_executor(None, corro_venue.start)
            orders = await asyncio.gather(*under_way, late)
            assert alice.is_connected and alice.gaps == []
            assert {each.status for each in orders} == {"open"} and before.status == "open"
            found = await alice.open_orders()
            assert sorted(each.client_order for each in found) == sorted(
                each.client_order for each in (before, *orders))
        await loop.run_in_executor(None, corro_venue.stop)

    run(work())
    entered = corro_venue.journal().orders()
    assert (entered["event"] == "accepted").sum() == 202


@pytest.mark.corro_venue(journal=True)
def test_missed_answers_are_sent_again_to_a_later_client(corro_venue):
    async def work():
        alice = await corro.Client.connect(corro_venue, "alice", cancel_on_disconnect=False)
        await alice.sell("ESZ6", 5, 5000)
        await alice.close()
        assert not alice.is_connected
        async with await corro.Client.connect(corro_venue, "bob") as bob:
            assert (await bob.buy("ESZ6", 2, 5000)).status == "filled"
        async with await corro.Client.connect(
            corro_venue, "alice", next_answer=alice.next_answer, session_day=alice.session_day
        ) as again:
            async for message in again.messages():
                if isinstance(message, wire.OrderExecuted):
                    assert (message.quantity, message.leaves) == (2, 3)
                    break

    run(work())


def test_a_lost_connection_without_reconnecting_is_an_error(corro_venue):
    async def work():
        alice = await corro.Client.connect(corro_venue, "alice")
        corro_venue.kill()
        with pytest.raises(corro.SessionError):
            while True:
                await alice.buy("ESZ6", 1, 5000)
        await alice.close()

    run(work())


def test_heartbeats_keep_a_quiet_session(corro_venue):
    async def work():
        async with await corro.Client.connect(corro_venue, "alice", heartbeat=0.5) as alice:
            await asyncio.sleep(2.0)
            assert (await alice.buy("ESZ6", 1, 5000)).status == "open"

    run(work())


def test_the_configuration_may_be_ones_own():
    tables = corro.default_configuration()
    tables["instrument"] = tables["instrument"][:1]
    tables["account"][0]["order_quantity_max"] = 5
    with corro.serve(tables) as venue:
        assert venue.is_running and venue.order_entry[0] == "127.0.0.1"
        assert "127.0.0.1" in repr(venue)

        async def work():
            async with await corro.Client.connect(venue, "alice") as alice:
                with pytest.raises(corro.Rejected, match="order_size_limit"):
                    await alice.buy("ESZ6", 6, 5000)

        run(work())
        folder = venue.folder
        assert folder.is_dir()
    assert not venue.is_running and not folder.exists()


def test_a_venue_that_does_not_start_says_why():
    with pytest.raises(RuntimeError, match="did not start:\n.*colour"):
        corro.serve({**corro.default_configuration(), "colour": {"red": 1}})


def test_books_of_the_feed_agree_with_the_journal():
    with corro.serve(journal=True) as venue:

        async def work():
            async with (
                await corro.Client.connect(venue, "alice") as alice,
                await corro.Client.connect(venue, "bob") as bob,
            ):
                numbers = np.random.default_rng(3)
                for side, price, quantity in zip(
                    numbers.integers(0, 2, 150), numbers.integers(19_990, 20_010, 150), numbers.integers(1, 9, 150), strict=True
                ):
                    who = alice if side else bob
                    await who.enter("buy" if side else "sell", "ESZ6", quantity, price / 4)
                early = await corro.Feed.connect(venue)
                for price in range(4990, 5010):
                    await alice.buy("ESZ6", 3, price)
                late = await corro.Feed.connect(venue)
                while early.next_sequence < late.next_sequence:
                    await anext(early)
                assert early.is_consistent
                books = [feed.book("ESZ6") for feed in (early, late)]
                for feed in (early, late):
                    await feed.close()
                return books

        (one, two) = run(work())
        venue.stop()
        ours = corro.journal(venue.config).levels("ESZ6")
        state = {}
        for side, price, quantity in zip(ours["side"], ours["price"], ours["quantity"], strict=True):
            state[(side, price)] = quantity
        for side, first, second in zip(("buy", "sell"), one, two, strict=True):
            for name in ("price", "quantity", "orders"):
                assert np.array_equal(first[name], second[name])
        # The clients' ends have cancelled what rested: what the feed showed stood there before.
        assert len(one[0]["price"]) > 0 or len(one[1]["price"]) > 0
        shown = {("buy", p) for p in one[0]["price"]} | {("sell", p) for p in one[1]["price"]}
        assert shown <= set(state)


WRONG = [
    (lambda v, c: c.buy("NONE", 1, 1), ValueError, 'no instrument "NONE"; the session may trade: ESZ6, CLF7'),
    (lambda v, c: c.buy("ESZ6", 0, 1), ValueError, "quantity=0: give a number above 0"),
    (lambda v, c: c.buy("ESZ6", 1.5, 1), TypeError, "quantity=1.5: give an int"),
    (lambda v, c: c.buy("ESZ6", 1, float("nan")), ValueError, "is no price; leave it out"),
    (lambda v, c: c.buy("ESZ6", 1, "cheap"), ValueError, 'price="cheap" is no decimal'),
    (lambda v, c: c.buy("ESZ6", 1, Decimal("0.0000000001")), ValueError, "at most nine decimals"),
    (lambda v, c: c.buy("ESZ6", 1, 1, time_in_force="soon"), ValueError, "time_in_force='soon'; there are \"day\""),
    (lambda v, c: c.enter("long", "ESZ6", 1, 1), ValueError, "side='long'; there are \"buy\", \"sell\""),
    (lambda v, c: corro.Client.connect(v, "zoe"), ValueError, 'no account "zoe"; the venue has: alice, bob, carol'),
    (lambda v, c: corro.Client.connect(v.order_entry, "alice"), ValueError, "names are for a Venue"),
    (lambda v, c: corro.Client.connect(v, 1), ValueError, "needs its key"),
    (lambda v, c: corro.Client.connect(v, 1, key="xyz"), ValueError, "64 hexadecimal digits"),
    (lambda v, c: corro.Client.connect("nowhere", 1, key=bytes(32)), ValueError, 'give "host:port"'),
    (lambda v, c: corro.Client.connect(v, "alice", heartbeat=0), ValueError, "from 0.1 to 60"),
]


def test_a_wrong_argument_is_answered_with_what_to_do(corro_venue):
    async def work():
        async with await corro.Client.connect(corro_venue, "bob") as client:
            for call_it, kind, message in WRONG:
                with pytest.raises(kind, match=message):
                    await call_it(corro_venue, client)

    run(work())
    with pytest.raises(FileNotFoundError, match="give a configuration"):
        corro.serve("/nowhere.toml")
    with pytest.raises(KeyError, match='has no "metrics"'):
        corro_venue.address("metrics")
    with pytest.raises(ValueError, match="keeps no journal"):
        corro_venue.journal()
    with contextlib.suppress(RuntimeError):
        corro_venue.start()
        raise AssertionError("it runs already")
