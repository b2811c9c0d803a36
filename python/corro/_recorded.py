# SPDX-License-Identifier: Apache-2.0
"""Recorded order flow: Databento DBN, LOBSTER, Nasdaq ITCH. Plain, gzip or zstd, recognised by the first bytes."""

from __future__ import annotations

import operator
import os
from pathlib import Path
from typing import SupportsIndex

from corro import _corro
from corro._frame import Frame


def dbn(path: str | os.PathLike[str], *, instrument: SupportsIndex | None = None) -> Frame:
    """The market-by-order records of a Databento DBN file, versions 1 to 3.

    Parameters
    ----------
    path
        The file.
    instrument
        Only records of the instrument with this number; `dbn_definitions` has names and numbers.

    Returns
    -------
    Frame
        event_time, receive_time, publisher_id, instrument_id, action and side (the letters of the file), price, size,
        order_id, flags, channel_id, sequence.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    DataError
        The file is damaged or of another format; the message has the place.
    """
    number = None
    if instrument is not None:
        try:
            number = operator.index(instrument)
        except TypeError:
            raise TypeError(
                f"instrument={instrument!r}: give the number of an instrument; corro.dbn_definitions has names and "
                "numbers"
            ) from None
        if not 0 <= number < 2**32:
            raise ValueError(f"instrument={number}: numbers of instruments have 32 bits")
    return Frame(_corro.read_dbn(_file(path), number))


def dbn_definitions(path: str | os.PathLike[str]) -> Frame:
    """The instrument definitions of a Databento DBN file.

    Parameters
    ----------
    path
        The file; other records in it are skipped.

    Returns
    -------
    Frame
        event_time, instrument_id, symbol, instrument_class, asset, exchange, currency, tick_size, expiration,
        strike_price, low_limit_price, high_limit_price.
    """
    return Frame(_corro.read_dbn_definitions(_file(path)))


def lobster(path: str | os.PathLike[str]) -> Frame:
    """A LOBSTER message file.

    Parameters
    ----------
    path
        The file, with or without a first line of names.

    Returns
    -------
    Frame
        time (since midnight), event, order_id, size, price, side (of the resting order), halt (of trading halts).
    """
    return Frame(_corro.read_lobster(_file(path)))


def lobster_book(path: str | os.PathLike[str]) -> Frame:
    """A LOBSTER orderbook file: row n is the book after row n of the message file.

    Parameters
    ----------
    path
        The file, with or without a first line of names.

    Returns
    -------
    Frame
        ask_price_1, ask_size_1, bid_price_1, bid_size_1, and so on, as many levels as the file has. A level that is
        not there has price NaN and size 0.
    """
    return Frame(_corro.read_lobster_book(_file(path)))


def itch(path: str | os.PathLike[str], *, stock: str | None = None) -> Frame:
    """The orders and trades of a Nasdaq TotalView-ITCH 5.0 file.

    Parameters
    ----------
    path
        The file: messages, each with its length in front.
    stock
        Only messages about this stock, such as ``"AAPL"``. A whole day without it needs much memory.

    Returns
    -------
    Frame
        time (since midnight), event (``"added"``, ``"executed"``, ``"cancelled"``, ``"deleted"``, ``"replaced"``,
        ``"traded"``, ``"crossed"``, ``"broken"``), stock, order_id, new_order_id (of replaced), side (of added and
        traded), shares, price (NaN: that of the order), match.
    """
    if stock is not None and (not isinstance(stock, str) or not stock):
        raise ValueError(f"stock={stock!r}: give the name of a stock, such as \"AAPL\", or leave it out")
    return Frame(_corro.read_itch(_file(path), stock or ""))


def _file(path: str | os.PathLike[str]) -> str:
    place = Path(os.fspath(path))
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder; give a file")
    if not place.exists():
        raise FileNotFoundError(f"{place}: no such file")
    return str(place)
