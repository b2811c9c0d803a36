# SPDX-License-Identifier: Apache-2.0
"""The books of one instrument at all moments, in memory; and what other programs read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from corro._arguments import Duration, duration_ns
from corro._frame import Frame
from corro._journal import Side, depth_argument
from corro._moment import Time, nanoseconds

_IMAGE_BYTES_MOST = 1 << 26  # of all images together
_CHANGES_LEAST = 512  # between two images


@dataclass(frozen=True)
class Levels:
    """The price levels of an instrument at a moment: what `Books.at` gives."""

    instrument: str
    sequence: int
    """Of the last command that changed a level; 0 before the first."""
    time: np.datetime64
    """Of that command."""
    bids: Side
    """price, quantity and orders, best first."""
    asks: Side

    @property
    def mid(self) -> float:
        """The middle of the best prices; NaN when a side is empty."""
        bids, asks = self.bids["price"], self.asks["price"]
        return float((bids[0] + asks[0]) / 2) if len(bids) and len(asks) else float("nan")


class Books:
    """The price levels of one instrument at all moments, in memory: a moment costs microseconds.

    Made by `Journal.books`, or from the levels of a market.

    Parameters
    ----------
    levels
        Of `Market.levels` or `Journal.levels`.
    instrument
        May be left out if there is only one.

    Examples
    --------
    >>> books = corro.journal("runs/calm").books()
    >>> books.at("2026-01-05T14:30:10").bids["price"][:3]
    >>> middles = [each.mid for each in books.every("1s")]
    """

    def __init__(self, levels: Frame, instrument: str | None = None) -> None:
        names = levels.categories("instrument")
        codes = levels.codes("instrument")
        present = [names[code] for code in np.unique(codes)]
        if instrument is None:
            if len(present) > 1:
                raise ValueError(f"the levels have several instruments; give one, of: {', '.join(present)}")
            rows = np.ones(len(codes), dtype=bool)
        elif instrument in names:
            rows = codes == names.index(instrument)
        else:
            raise ValueError(f'no instrument "{instrument}"; the levels have: {", ".join(names)}')
        self._instrument = instrument or (present[0] if present else "")
        self._time = levels["time"].astype(np.int64)[rows]
        self._sequence = levels["sequence"][rows]
        self._prices, place = np.unique(levels["price"][rows], return_inverse=True)
        # A place for each side and price: bids first.
        is_ask = np.array([each == "sell" for each in levels.categories("side")])[levels.codes("side")[rows]]
        self._place = place + is_ask * len(self._prices)
        self._values = np.column_stack([levels["quantity"][rows], levels["orders"][rows]]).astype(np.int64)
        image = np.zeros((2 * len(self._prices), 2), dtype=np.int64)
        count = len(self._time)
        self._every = max(_CHANGES_LEAST, -(-count * image.nbytes // _IMAGE_BYTES_MOST))
        self._images = [image.copy()]
        for begin in range(0, count - self._every + 1, self._every):
            self._apply(image, begin, begin + self._every)
            self._images.append(image.copy())

    @property
    def instrument(self) -> str:
        """Its name."""
        return self._instrument

    @property
    def prices(self) -> npt.NDArray[np.float64]:
        """All prices that ever had a level, ascending."""
        return self._prices

    def __len__(self) -> int:
        """Changes of levels."""
        return len(self._time)

    def at(self, time: Time, *, depth: SupportsIndex | None = None) -> Levels:
        """The levels after all commands up to a time, inclusive.

        Parameters
        ----------
        time
            As for `Journal.book_at`.
        depth
            Levels of each side; all if left out.
        """
        return self._after(int(np.searchsorted(self._time, nanoseconds("time", time), side="right")), depth_argument(depth))

    def every(self, interval: Duration, *, depth: SupportsIndex | None = None) -> Iterator[Levels]:
        """The levels at the time of the first change, and after each interval up to the last change."""
        step, levels = duration_ns("interval", interval), depth_argument(depth)
        if step == 0:
            raise ValueError(f"interval={interval!r}: give a duration above 0")
        if len(self._time):
            for time in range(int(self._time[0]), int(self._time[-1]) + 1, step):
                yield self._after(int(np.searchsorted(self._time, time, side="right")), levels)

    def _apply(self, image: npt.NDArray[np.int64], begin: int, end: int) -> None:
        # Of several changes of a place, the last one stays.
        image[self._place[begin:end]] = self._values[begin:end]

    def _after(self, changes: int, depth: int) -> Levels:
        nearest = changes // self._every
        image = self._images[nearest].copy()
        self._apply(image, nearest * self._every, changes)
        middle = len(self._prices)
        bids = np.flatnonzero(image[:middle, 0])[::-1][: depth or None]
        asks = np.flatnonzero(image[middle:, 0])[: depth or None]
        return Levels(
            self._instrument,
            int(self._sequence[changes - 1]) if changes else 0,
            np.datetime64(int(self._time[changes - 1]) if changes else 0, "ns"),
            {"price": self._prices[bids], "quantity": image[bids, 0], "orders": image[bids, 1]},
            {"price": self._prices[asks], "quantity": image[asks + middle, 0], "orders": image[asks + middle, 1]},
        )

    def __repr__(self) -> str:
        return f"Books({self._instrument!r}, {len(self):,} changes of {len(self._prices):,} prices)"


_HFTBACKTEST = [
    ("ev", "<u8"), ("exch_ts", "<i8"), ("local_ts", "<i8"), ("px", "<f8"), ("qty", "<f8"), ("order_id", "<u8"),
    ("ival", "<i8"), ("fval", "<f8"),
]  # fmt: skip
_DEPTH, _TRADE = 1, 2
_AT_EXCHANGE, _AT_HOME, _BUY, _SELL = 1 << 31, 1 << 30, 1 << 29, 1 << 28


def to_hftbacktest(
    path: str | os.PathLike[str],
    levels: Frame,
    trades: Frame,
    *,
    instrument: str | None = None,
    feed_delay: Duration = 0.0,
) -> int:
    """Writes the market data of an instrument as hftbacktest reads it: an npz file with the array ``data``.

    Parameters
    ----------
    path
        The file, usually with the ending ``.npz``.
    levels, trades
        Of `Market` or `Journal`.
    instrument
        May be left out if there is only one.
    feed_delay
        Between the venue's time and that of the receiver.

    Returns
    -------
    int
        The number of events.
    """
    later = duration_ns("feed_delay", feed_delay)
    parts = []
    # What a command traded comes before what it changed.
    for frame, kind, side, rank in ((trades, _TRADE, "aggressor", 0), (levels, _DEPTH, "side", 1)):
        names, codes = frame.categories("instrument"), frame.codes("instrument")
        if instrument is None and len(np.unique(codes)) > 1:
            raise ValueError(f"the frame has several instruments; give one as instrument=, of: {', '.join(names)}")
        if instrument is not None and instrument not in names:
            raise ValueError(f'no instrument "{instrument}"; the frame has: {", ".join(names)}')
        rows = np.ones(len(codes), dtype=bool) if instrument is None else codes == names.index(instrument)
        sides = frame[side][rows]
        made = np.zeros(len(sides), dtype=_HFTBACKTEST)
        made["ev"] = kind | _AT_EXCHANGE | _AT_HOME
        made["ev"] |= np.where(sides == "buy", _BUY, np.where(sides == "sell", _SELL, 0)).astype(np.uint64)
        made["exch_ts"] = frame["time"].astype(np.int64)[rows]
        made["local_ts"] = made["exch_ts"] + later
        made["px"], made["qty"] = frame["price"][rows], frame["quantity"][rows]
        parts.append((made, frame["sequence"][rows], np.full(len(made), rank)))
    events, sequence, rank_of = (np.concatenate(each) for each in zip(*parts, strict=True))
    events = events[np.lexsort((rank_of, sequence))]
    with open(path, "wb") as file:
        np.savez_compressed(file, data=events)
    return len(events)
