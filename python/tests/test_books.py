# SPDX-License-Identifier: Apache-2.0
"""Books in memory, and files for other programs: the same as the venue's own books and the frames."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from test_market import small

import corro


def test_books_are_those_of_the_venue(recorded_run):
    day = corro.journal(recorded_run)
    books = day.books()
    generator = random.Random(2)
    first, last = (int(each.astype(np.int64)) for each in day.levels()["time"][[0, -1]])
    for _ in range(25):
        at = np.datetime64(generator.randint(first, last), "ns")
        expected, found = day.book_at(at, depth=20), books.at(at, depth=20)
        for side in ("bids", "asks"):
            for column in ("price", "quantity", "orders"):
                assert getattr(found, side)[column].tolist() == getattr(expected, side)[column].tolist()
        assert found.mid == expected.mid and found.sequence <= expected.sequence and found.time <= at
    begin = time.process_time()
    for _ in range(200):
        books.at(np.datetime64(generator.randint(first, last), "ns"), depth=10)
    assert (time.process_time() - begin) / 200 < 0.001, "below a millisecond each"


def test_books_at_all_changes():
    market = corro.Market(small(), seed=3, record=("levels", "quotes"))
    market.run()
    books = corro.Books(market.levels)
    # Of one command, the best prices after its last change.
    quotes = market.quotes.to_numpy()
    for row in quotes[:: max(1, len(quotes) // 100)]:
        last = quotes[quotes["time"] == row["time"]][-1]
        found = books.at(row["time"])
        best = [each["price"][0] if len(each["price"]) else np.nan for each in (found.bids, found.asks)]
        assert np.array_equal(best, [last["bid_price"], last["ask_price"]], equal_nan=True)
    assert books.at("2026-01-01").sequence == 0 and len(books.at("2026-01-01").bids["price"]) == 0
    end, book = books.at("2027-01-01"), market.book()
    assert end.bids["quantity"].tolist() == book.bids["quantity"].tolist()
    assert len(list(books.every("1s"))) == 20
    assert repr(books) == f"Books('ESZ6', {len(market.levels):,} changes of {len(books.prices):,} prices)"


def test_several_instruments_and_images(generated):
    from conftest import ROOT

    day = corro.journal(generated, config=ROOT / "config" / "demo.toml")
    levels = day.levels()
    with pytest.raises(ValueError, match="several instruments; give one, of: "):
        corro.Books(levels)
    with pytest.raises(ValueError, match='no instrument "NONE"; the levels have: '):
        corro.Books(levels, "NONE")
    name = levels.categories("instrument")[0]
    books = corro.Books(levels, name)
    assert len(books._images) > 1
    at = levels["time"][len(levels) * 2 // 3]
    assert books.at(at).bids["price"].tolist() == day.book_at(at, name).bids["price"].tolist()


def test_hftbacktest_gets_the_trades_and_the_book(tmp_path):
    market = corro.Market(small(), seed=3, record=("levels", "trades"))
    market.run()
    count = corro.to_hftbacktest(tmp_path / "day.npz", market.levels, market.trades, feed_delay="2ms")
    events = np.load(tmp_path / "day.npz")["data"]
    assert len(events) == count == len(market.levels) + len(market.trades)
    assert list(events.dtype.names) == ["ev", "exch_ts", "local_ts", "px", "qty", "order_id", "ival", "fval"] and events.dtype.itemsize == 64
    assert (np.diff(events["exch_ts"]) >= 0).all() and set(events["local_ts"] - events["exch_ts"]) == {2_000_000}
    assert (events["ev"] >> np.uint64(30) == 3).all(), "both at the exchange and at the receiver"
    traded = events[events["ev"] & np.uint64(0xFF) == 2]
    buys = traded["ev"] & np.uint64(1 << 29) != 0
    assert np.array_equal(buys, market.trades["aggressor"] == "buy")
    assert traded["px"].tolist() == market.trades["price"].tolist() and traded["qty"].sum() == market.trades["quantity"].sum()
    # The last quantity of each price and side is the book.
    final = {(bool(each["ev"] & np.uint64(1 << 29)), float(each["px"])): each["qty"] for each in events if each["ev"] & np.uint64(0xFF) == 1}
    book = market.book()
    assert sorted(price for (is_bid, price), quantity in final.items() if is_bid and quantity) == sorted(book.bids["price"].tolist())
    with pytest.raises(ValueError, match='no instrument "NONE"'):
        corro.to_hftbacktest(tmp_path / "day.npz", market.levels, market.trades, instrument="NONE")
