# SPDX-License-Identifier: Apache-2.0
"""Plots of markets, journals and comparisons. Needs ``pip install matplotlib``.

>>> import corro, corro.plots
>>> market = corro.Market("config/markets/calm.toml", seed=1, record=("trades", "quotes", "levels"))
>>> market.run()
>>> corro.plots.heatmap(market.levels, market.trades).figure.savefig("book.svg")

Each function draws into the axes that it is given, or into new ones, and returns them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from corro._frame import Frame
from corro._journal import Book
from corro._sweep import Comparison

try:
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm
except ImportError as e:
    raise ImportError("corro.plots needs matplotlib: pip install matplotlib") from e

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any

BUY, SELL = "#2166ac", "#b2182b"

# The columns that the plots use, by table.
_NEEDED = {
    "levels": ("time", "instrument", "side", "price", "quantity"),
    "trades": ("time", "instrument", "aggressor"),
    "quotes": ("time", "instrument", "bid_price", "ask_price"),
}


def heatmap(
    levels: Frame,
    trades: Frame | None = None,
    *,
    instrument: str | None = None,
    columns: int = 400,
    rows: int = 120,
    axes: Axes | None = None,
) -> Axes:
    """The book over time: the quantity at each price, and the trades as dots.

    Parameters
    ----------
    levels, trades
        Of `Market.levels` and `Market.trades`, or of a journal.
    instrument
        May be left out if there is only one.
    columns, rows
        Pieces of time, and of price; a piece shows the quantity at its end.
    axes
        Where it is drawn; new ones if left out.
    """
    chosen = _of_instrument("levels", levels, instrument)
    if not len(chosen["time"]):
        raise ValueError("levels: there are none; record them with record=(\"levels\",)")
    start = chosen["time"].astype(np.int64)[0]
    time, price, quantity = chosen["time"].astype(np.int64) - start, chosen["price"], chosen["quantity"]
    edges = np.linspace(0, time[-1] + 1, columns + 1)
    every = np.unique(price)
    # Far levels would leave a line of what matters.
    low, high = np.quantile(price, [0.01, 0.99])
    shown = every[(every >= low) & (every <= high)]
    cells = np.linspace(shown[0], shown[-1], min(rows, len(shown)) + 1)
    # The quantity at each price after each piece of time: the last change before its end.
    image = np.zeros((len(cells) - 1, columns))
    row_of = np.clip(np.searchsorted(cells, shown, side="right") - 1, 0, len(cells) - 2)
    ends = np.searchsorted(time, edges[1:], side="left")
    place = {float(each): i for i, each in enumerate(shown)}
    now = np.zeros((2, len(shown)))
    sides = (chosen["side"] == "sell").astype(np.int8)
    begin = 0
    for column, end in enumerate(ends):
        for at in range(begin, end):
            where = place.get(float(price[at]))
            if where is not None:
                now[sides[at], where] = quantity[at]
        begin = int(end)
        np.add.at(image[:, column], row_of, now[0] + now[1])
    ax = _axes(axes)
    if image.max() <= 0:
        raise ValueError("levels: no quantity rests at any end of a piece of time; use more columns")
    drawn = ax.pcolormesh(
        edges / 1e9, cells, np.where(image > 0, image, np.nan), cmap="YlGnBu", norm=LogNorm(1, image.max()),
        shading="flat", rasterized=True,
    )  # fmt: skip
    ax.figure.colorbar(drawn, ax=ax, label="quantity")
    if trades is not None:
        seen = _of_instrument("trades", trades, instrument)
        for side, colour in (("buy", BUY), ("sell", SELL)):
            which = seen["aggressor"] == side
            ax.plot((seen["time"][which].astype(np.int64) - start) / 1e9, seen["price"][which], ".", color=colour,
                    markersize=1.5, label=f"{side}s")  # fmt: skip
        ax.legend(loc="upper right", markerscale=5)
    ax.set(xlabel="seconds", ylabel="price", xlim=(0, edges[-1] / 1e9), ylim=(cells[0], cells[-1]))
    return ax


def depth(book: Book, *, axes: Axes | None = None) -> Axes:
    """The quantity that is offered up to each price, on both sides."""
    ax = _axes(axes)
    for side, frame, colour in (("bids", book.bids, BUY), ("asks", book.asks, SELL)):
        if len(frame):
            ax.step(frame["price"], np.cumsum(frame["quantity"]), where="post" if side == "asks" else "pre", color=colour,
                    label=side)  # fmt: skip
            ax.fill_between(frame["price"], np.cumsum(frame["quantity"]), step="post" if side == "asks" else "pre",
                            color=colour, alpha=0.2)  # fmt: skip
    ax.set(xlabel="price", ylabel="quantity up to there", title=f"{book.instrument}, {book.time}")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def signature(
    quotes: Frame,
    *,
    instrument: str | None = None,
    seconds: Iterable[float] = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20),
    axes: Axes | None = None,
) -> Axes:
    """The signature plot: the variance of the middle a second, against the interval at which it is sampled.

    A line that falls means that prices turn back at short intervals; a flat one is a random walk.
    """
    time, middle = _middles(quotes, instrument)
    intervals, variances = [], []
    for each in seconds:
        grid = np.arange(time[0], time[-1], each * 1e9)
        if len(grid) < 3:
            continue
        change = np.diff(middle[np.searchsorted(time, grid, side="right") - 1])
        intervals.append(each)
        variances.append(float(np.mean(change * change)) / each)
    if not intervals:
        raise ValueError("seconds: the quotes are of a shorter time than each interval; give smaller ones")
    ax = _axes(axes)
    ax.semilogx(intervals, variances, "o-", color=BUY)
    ax.set(xlabel="seconds between samples", ylabel="variance of the middle a second")
    ax.set_ylim(bottom=0)
    return ax


def impact(
    trades: Frame,
    quotes: Frame,
    *,
    instrument: str | None = None,
    seconds: Iterable[float] = (0.01, 0.03, 0.1, 0.3, 1, 3, 10),
    axes: Axes | None = None,
) -> Axes:
    """The response: how far the middle has moved in the direction of a trade, after a time; with two standard errors."""
    time, middle = _middles(quotes, instrument)
    seen = _of_instrument("trades", trades, instrument)
    at = seen["time"].astype(np.int64)
    sign = np.where(seen["aggressor"] == "buy", 1.0, np.where(seen["aggressor"] == "sell", -1.0, 0.0))
    before = np.searchsorted(time, at, side="left") - 1
    lags, means, errors = [], [], []
    for each in seconds:
        later = at + each * 1e9
        use = (before >= 0) & (later <= time[-1]) & (sign != 0)
        if use.sum() < 2:
            continue
        moved = sign[use] * (middle[np.searchsorted(time, later[use], side="right") - 1] - middle[before[use]])
        lags.append(each)
        means.append(float(moved.mean()))
        errors.append(2 * float(moved.std(ddof=1)) / np.sqrt(len(moved)))
    if not lags:
        raise ValueError("trades: too few with a side and a later quote; give smaller seconds=")
    ax = _axes(axes)
    ax.errorbar(lags, means, errors, fmt="o-", color=BUY, capsize=3)
    ax.axhline(0, color="grey", linewidth=0.7)
    ax.set(xscale="log", xlabel="seconds after the trade", ylabel="move of the middle with the trade")
    return ax


def scorecard(comparison: Comparison, *, axes: Axes | None = None) -> Axes:
    """The metrics of two designs: the difference of each with its interval, in parts of A's mean; those that differ are red."""
    m = comparison.metrics
    scale = np.abs(m["a"])
    use = np.flatnonzero((scale > 0) & np.isfinite(m["difference"]))
    names = m["metric"]
    ax = _axes(axes)
    for row, i in enumerate(use[::-1]):
        middle, low, high = (float(m[each][i] / scale[i]) for each in ("difference", "low", "high"))
        colour = SELL if m["p_corrected"][i] < 0.05 else "grey"
        ax.plot([low, high], [row, row], color=colour, linewidth=2)
        ax.plot([middle], [row], "o", color=colour)
    ax.axvline(0, color="black", linewidth=0.7)
    ax.set_yticks(range(len(use)), [str(names[i]) for i in use[::-1]])
    ax.set(xlabel="B less A, in parts of A")
    return ax


def _axes(given: Axes | None) -> Axes:
    return plt.subplots(layout="constrained")[1] if given is None else given


def _of_instrument(table: str, frame: Frame, instrument: str | None) -> dict[str, npt.NDArray[Any]]:
    if missing := [name for name in _NEEDED[table] if name not in frame]:
        raise ValueError(f"{table}: the frame has no {', '.join(missing)}; give the {table} of a market or of a journal")
    names = frame.categories("instrument")
    present = [names[code] for code in np.unique(frame.codes("instrument")) if code >= 0]
    if instrument is None and len(present) > 1:
        raise ValueError(f"the frame has several instruments; give one as instrument=, of: {', '.join(present)}")
    if instrument is not None and instrument not in names:
        raise ValueError(f'no instrument "{instrument}"; the frame has: {", ".join(names)}')
    rows = slice(None) if instrument is None else frame.codes("instrument") == names.index(instrument)
    return {name: frame[name][rows] for name in frame.columns}


def _middles(quotes: Frame, instrument: str | None) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    chosen = _of_instrument("quotes", quotes, instrument)
    middle = (chosen["bid_price"] + chosen["ask_price"]) / 2
    use = np.isfinite(middle)
    if not use.any():
        raise ValueError("quotes: no moment has both sides; record them with record=(\"quotes\",)")
    return chosen["time"][use].astype(np.int64), middle[use]
