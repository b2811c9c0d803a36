# SPDX-License-Identifier: Apache-2.0
"""Plots: what they draw is what the frames contain."""

from __future__ import annotations

import numpy as np
import pytest
from test_market import small

import corro

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def market():
    made = corro.Market(small(), seed=3, record=corro._market.TABLES)
    made.run()
    return made


def test_the_heatmap_ends_with_the_book(market):
    import corro.plots

    axes = corro.plots.heatmap(market.levels, market.trades, rows=10_000, columns=50)
    image = axes.collections[0].get_array()
    book = market.book()
    shown = np.ma.filled(image[:, -1], 0.0)
    low, high = axes.get_ylim()
    expected = sum(frame["quantity"][(frame["price"] >= low) & (frame["price"] <= high)].sum() for frame in (book.bids, book.asks))
    assert np.nansum(shown) == expected > 0
    dots = sum(len(line.get_xdata()) for line in axes.lines)
    assert dots == len(market.trades)


def test_the_depth_is_the_books_quantity(market):
    import corro.plots

    book = market.book()
    axes = corro.plots.depth(book)
    assert [line.get_ydata()[-1] for line in axes.lines] == [book.bids["quantity"].sum(), book.asks["quantity"].sum()]


def frame_of(**columns):
    return corro._frame._from_parts([
        (name, "category" if name in ("instrument", "aggressor") else "time" if name == "time" else "number",
         np.asarray(values), ["X"] if name == "instrument" else ["buy", "sell"] if name == "aggressor" else [])
        for name, values in columns.items()])


def test_the_signature_of_a_walk_is_flat_and_of_a_bounce_falls():
    import corro.plots

    generator = np.random.default_rng(1)
    time = np.arange(20_000, dtype=np.int64) * 100_000_000
    walk = np.cumsum(generator.standard_normal(len(time)))
    bounce = generator.standard_normal(len(time))
    for middle, factor in ((walk, 1.0), (bounce, 0.01)):
        quotes = frame_of(time=time, instrument=np.zeros(len(time), dtype=np.int32), bid_price=middle - 1, ask_price=middle + 1)
        values = corro.plots.signature(quotes, seconds=[0.1, 10]).lines[0].get_ydata()
        assert values[1] / values[0] == pytest.approx(factor, rel=0.25)


def test_the_impact_is_the_move_with_the_trade():
    import corro.plots

    count = 500
    side = np.random.default_rng(2).integers(0, 2, count).astype(np.int32)
    at = (np.arange(count, dtype=np.int64) + 1) * 10_000_000_000
    middle = 100 + np.cumsum(np.where(side == 0, 0.5, -0.5))
    # A tenth of a second after each trade, the middle moves half a unit with it.
    time = np.concatenate([[0], at + 100_000_000])
    middle = np.concatenate([[100.0], middle])
    quotes = frame_of(time=time, instrument=np.zeros(len(time), dtype=np.int32), bid_price=middle - 1, ask_price=middle + 1)
    trades = frame_of(time=at, instrument=np.zeros(count, dtype=np.int32), aggressor=side)
    drawn = corro.plots.impact(trades, quotes, seconds=[0.05, 0.2, 5]).lines[0]
    assert drawn.get_ydata().tolist() == [0.0, 0.5, 0.5]


def test_the_scorecard_has_each_metric():
    import corro.plots

    variant = small()
    variant["agents"][1]["half_spread_ticks"] = 6
    comparison = corro.compare(small(), variant, seeds=range(2), until="3s", jobs=1)
    axes = corro.plots.scorecard(comparison)
    assert "quoted_spread_ticks" in [each.get_text() for each in axes.get_yticklabels()]


@pytest.mark.parametrize("call, message", [
    (lambda p, m: p.heatmap(m.levels, instrument="NONE"), 'no instrument "NONE"; the frame has: ESZ6'),
    (lambda p, m: p.signature(m.quotes, seconds=[60]), "shorter time"),
    (lambda p, m: p.impact(m.trades, m.quotes, seconds=[60]), "too few"),
    (lambda p, m: p.signature(m.trades), "quotes: the frame has no bid_price, ask_price; give the quotes of a market or of a journal"),
    (lambda p, m: p.impact(m.quotes, m.quotes), "trades: the frame has no aggressor"),
    (lambda p, m: p.heatmap(m.trades), "levels: the frame has no side; give the levels"),
    (lambda p, m: p.heatmap(m.levels, m.levels), "trades: the frame has no aggressor"),
])
def test_a_wrong_argument_is_answered_with_what_to_do(market, call, message):
    import corro.plots

    with pytest.raises(ValueError, match=message):
        call(corro.plots, market)
