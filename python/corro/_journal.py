# SPDX-License-Identifier: Apache-2.0
"""The journals of a venue: what happened, and the book at any moment."""

from __future__ import annotations

import importlib
import operator
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from corro import _corro
from corro._frame import Frame
from corro._moment import Time, nanoseconds, sequence

if TYPE_CHECKING:
    from corro._books import Books

_CONFIGURATION = "venue.toml"
_JOURNAL = "journal"
_DEPTH_MOST = 1_000_000

Side: TypeAlias = dict[str, npt.NDArray[Any]]
"""price, quantity and orders of one side of a book, best first."""


class Instrument(NamedTuple):
    """What trades, and in which steps."""

    name: str
    id: int
    kind: str
    """``"future"``, ``"option"``, ``"spread"`` or ``"spot"``."""
    tick_size: float
    lot_size: int
    """Units in one lot."""
    decimals: int
    """Digits behind the point that its prices need at most."""
    expiry: np.datetime64 | None


class Index(NamedTuple):
    """The index beside a journal."""

    snapshots_written: int
    """By this call."""
    snapshots: int
    bytes_written: int
    commands: int
    """In the journal."""


@dataclass(frozen=True)
class Book:
    """The book of an instrument after a command. Prices that do not exist are NaN."""

    instrument: str
    sequence: int
    """Of the last command; 0 before the first."""
    time: np.datetime64
    levels: Frame
    """side, price, quantity, orders: first the bids, then the asks, best first."""
    orders: Frame | None
    """By priority, if asked for: side, price, open, filled, order, client_order, account."""
    last: float
    high: float
    low: float
    open: float
    volume: int
    open_interest: int

    @property
    def bids(self) -> Side:
        """price, quantity and orders of the bids, best first."""
        return self._side(0)

    @property
    def asks(self) -> Side:
        """price, quantity and orders of the asks, best first."""
        return self._side(1)

    @property
    def mid(self) -> float:
        """The middle of the best prices; NaN when a side is empty."""
        bids, asks = self.bids["price"], self.asks["price"]
        return float((bids[0] + asks[0]) / 2) if len(bids) and len(asks) else float("nan")

    @property
    def spread(self) -> float:
        """The best ask less the best bid; NaN when a side is empty."""
        bids, asks = self.bids["price"], self.asks["price"]
        return float(asks[0] - bids[0]) if len(bids) and len(asks) else float("nan")

    def _side(self, code: int) -> Side:
        chosen = self.levels.codes("side") == code
        return {name: self.levels[name][chosen] for name in ("price", "quantity", "orders")}


class Journal:
    """A venue's journal. Made by `corro.journal`.

    Each method reads the journal again; a venue may write on meanwhile. They release the GIL, and Ctrl-C ends them.
    Threads may share a journal; their calls happen one after the other.
    """

    def __init__(self, native: _corro.Journal, config: Path) -> None:
        self._native = native
        self._config = config

    @property
    def directory(self) -> Path:
        """The folder of the journal's files."""
        return Path(self._native.directory)

    @property
    def config(self) -> Path:
        """The configuration of the venue that wrote it."""
        return self._config

    @property
    def instruments(self) -> list[Instrument]:
        """The instruments of the configuration; operators may have defined others later."""
        return [instrument_of(each) for each in self._native.instruments]

    def orders(
        self,
        instrument: str | None = None,
        *,
        start: Time | None = None,
        end: Time | None = None,
        first: SupportsIndex | None = None,
        last: SupportsIndex | None = None,
    ) -> Frame:
        """What happened to orders: one row per accepted order, and one per message to the owner of an order.

        Parameters
        ----------
        instrument
            Only rows of this instrument.
        start, end
            Only commands from this time to this time, both included: a text in UTC such as
            ``"2026-01-05T14:30:10.5"``, a ``datetime64``, a ``datetime`` with a time zone, or nanoseconds since the
            epoch.
        first, last
            Only commands from this sequence number to this one, both included.

        Returns
        -------
        Frame
            sequence, time, event (``"accepted"``, ``"entered"``, ``"amended"``, ``"cancelled"``, ``"executed"``,
            ``"rejected"``), instrument, side, order, client_order, account, session, price, quantity, open,
            aggressor, reason, type, time_in_force, trigger_price, display_quantity, minimum_quantity.
        """
        return self._read("orders", instrument, start, end, first, last)

    def trades(
        self,
        instrument: str | None = None,
        *,
        start: Time | None = None,
        end: Time | None = None,
        first: SupportsIndex | None = None,
        last: SupportsIndex | None = None,
    ) -> Frame:
        """The trades of the public tape, with orders and accounts of both sides.

        Parameters
        ----------
        instrument, start, end, first, last
            As for `orders`.

        Returns
        -------
        Frame
            sequence, time, trade, instrument, price, quantity, aggressor, buy_order, buy_account, sell_order,
            sell_account.
        """
        return self._read("trades", instrument, start, end, first, last)

    def levels(
        self,
        instrument: str | None = None,
        *,
        start: Time | None = None,
        end: Time | None = None,
        first: SupportsIndex | None = None,
        last: SupportsIndex | None = None,
    ) -> Frame:
        """Each change of a price level, with its new total; 0 when the level is gone.

        When the range begins within the journal, the levels that are there come first.

        Parameters
        ----------
        instrument, start, end, first, last
            As for `orders`.

        Returns
        -------
        Frame
            sequence, time, instrument, side, price, quantity, orders.
        """
        return self._read("levels", instrument, start, end, first, last)

    def quotes(
        self,
        instrument: str | None = None,
        *,
        start: Time | None = None,
        end: Time | None = None,
        first: SupportsIndex | None = None,
        last: SupportsIndex | None = None,
    ) -> Frame:
        """The best prices after each change of them.

        Parameters
        ----------
        instrument, start, end, first, last
            As for `orders`.

        Returns
        -------
        Frame
            sequence, time, instrument, bid_price, bid_quantity, ask_price, ask_quantity. An empty side has price NaN.
        """
        return self._read("quotes", instrument, start, end, first, last)

    def read(
        self,
        instrument: str | None = None,
        *,
        start: Time | None = None,
        end: Time | None = None,
        first: SupportsIndex | None = None,
        last: SupportsIndex | None = None,
    ) -> tuple[Frame, Frame, Frame, Frame]:
        """`orders`, `trades`, `levels` and `quotes` in one pass over the journal."""
        begin, finish = _range_of(start, end, first, last)
        made = self._native.read(True, True, True, True, instrument_argument(instrument), *begin, *finish)
        orders, trades, levels, quotes = (Frame(each) for each in made if each is not None)
        return orders, trades, levels, quotes

    def book_at(
        self,
        time: Time | None = None,
        instrument: str | None = None,
        *,
        sequence: SupportsIndex | None = None,
        depth: SupportsIndex | None = None,
        orders: bool = False,
    ) -> Book:
        """The book after the last command that is not later than a time.

        In a long journal it is fast with an index (`make_index`): the nearest snapshot is loaded, and the commands after
        it are executed.

        Parameters
        ----------
        time
            The time. Without time and sequence: the end of the journal.
        instrument
            May be left out if there is only one.
        sequence
            Instead of a time: the book after the command with this number.
        depth
            Levels of each side; all if left out.
        orders
            Whether the book has its orders, too.
        """
        kind, value = _range(time, sequence, "time", "sequence", False)
        return book_of(self._native.book_at(kind, value, instrument_argument(instrument), depth_argument(depth), orders))

    def books(self, instrument: str | None = None, *, start: Time | None = None, end: Time | None = None) -> Books:
        """The price levels of an instrument at all moments of a range: one pass, and then a moment costs microseconds.

        Parameters
        ----------
        instrument
            May be left out if there is only one.
        start, end
            Times of the first and last command; all if left out.
        """
        from corro._books import Books

        return Books(self.levels(instrument, start=start, end=end), instrument)

    def to_lobster(
        self,
        folder: str | os.PathLike[str],
        instrument: str | None = None,
        *,
        depth: SupportsIndex = 10,
        start: Time | None = None,
        end: Time | None = None,
    ) -> list[Path]:
        """Writes order flow as LOBSTER sells it: a message file and an orderbook file for each instrument and day.

        `corro.lobster` and `corro.lobster_book` read them again.

        Parameters
        ----------
        folder
            Is made if it is missing.
        instrument
            Only this one.
        depth
            Levels of each side in the orderbook file.
        start, end
            As for `orders`.

        Returns
        -------
        list of Path
            The files.
        """
        place = _folder(folder)
        begin, finish = _range_of(start, end, None, None)
        levels = depth_argument(depth)
        # The folder may have files of other exports. And what an interruption leaves unfinished gets no final name.
        with tempfile.TemporaryDirectory(prefix=".lobster-", dir=place) as unfinished:
            self._native.to_lobster(unfinished, instrument_argument(instrument), levels, *begin, *finish)
            made = sorted(Path(unfinished).glob("*_message_*.csv")) + sorted(Path(unfinished).glob("*_orderbook_*.csv"))
            return [each.replace(place / each.name) for each in made]

    def to_parquet(
        self, folder: str | os.PathLike[str], instrument: str | None = None, *, every: SupportsIndex = 50_000
    ) -> list[Path]:
        """Writes ``orders.parquet``, ``trades.parquet``, ``levels.parquet`` and ``quotes.parquet``, compressed by zstd.

        A row group has what happened in `every` commands. With the distance of `make_index`, that is from one snapshot to the
        next, so that who reads a range reads few groups. Needs pyarrow.

        Parameters
        ----------
        folder
            Is made if it is missing; older files of these names are replaced.
        instrument
            Only rows of this one.
        every
            Commands in a row group.

        Returns
        -------
        list of Path
            The files.
        """
        interval = _interval(every)
        parquet = _needed_parquet()
        place = _folder(folder)
        made = []
        for name, frame in zip(("orders", "trades", "levels", "quotes"), self.read(instrument), strict=True):
            table, sequences = frame.to_arrow(), frame["sequence"]
            last = int(sequences[-1]) if len(frame) else 0
            cuts = np.searchsorted(sequences, np.arange(interval, last + interval, interval), side="right")
            file = place / f"{name}.parquet"
            with parquet.ParquetWriter(file, table.schema, compression="zstd") as writer:
                begin = 0
                for cut in (int(each) for each in np.unique(cuts)):
                    if cut > begin:
                        writer.write_table(table.slice(begin, cut - begin), row_group_size=cut - begin)
                    begin = cut
            made.append(file)
        return made

    def duckdb(self, instrument: str | None = None) -> Any:
        """A connection of DuckDB in memory with the tables orders, trades, levels and quotes. Needs duckdb.

        >>> corro.journal("runs/calm").duckdb().sql("select instrument, avg(price) from trades group by all")

        Parameters
        ----------
        instrument
            Only rows of this one.
        """
        try:
            library = importlib.import_module("duckdb")
        except ImportError as e:
            raise ImportError("duckdb needs DuckDB: pip install duckdb") from e
        connection = library.connect()
        for name, frame in zip(("orders", "trades", "levels", "quotes"), self.read(instrument), strict=True):
            connection.execute(f"create table {name} as select * from frame")
            del frame
        return connection

    def make_index(self, every: SupportsIndex = 50_000) -> Index:
        """Writes snapshots beside the journal, one for every `every` commands, so that `book_at` is fast.

        Continues behind its last snapshot. Together the snapshots need no more space than the journal; one that
        would is left out.

        Parameters
        ----------
        every
            Commands between two snapshots, from 100 on. Loading a snapshot takes time in proportion to the open orders, so
            that some ten thousand commands are a sensible distance.
        """
        interval = _interval(every)
        return Index(*self._native.make_index(interval))

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.instruments[:5])
        more = ", ..." if len(self.instruments) > 5 else ""
        return f"Journal({str(self.directory)!r}, instruments: {names}{more})"

    def _read(
        self,
        what: str,
        instrument: str | None,
        start: Time | None,
        end: Time | None,
        first: SupportsIndex | None,
        last: SupportsIndex | None,
    ) -> Frame:
        begin, finish = _range_of(start, end, first, last)
        made = self._native.read(
            what == "orders", what == "trades", what == "levels", what == "quotes", instrument_argument(instrument), *begin, *finish
        )
        chosen = next(each for each in made if each is not None)
        return Frame(chosen)


def journal(
    path: str | os.PathLike[str],
    *,
    config: str | os.PathLike[str] | None = None,
    partition: str | None = None,
    index: bool = True,
) -> Journal:
    """Opens a venue's journal.

    Parameters
    ----------
    path
        The folder of a run of ``corro market run``; or the configuration of a venue, whose journal is read; or the
        folder of a journal.
    config
        The venue's configuration when it wrote the journal, if `path` is the folder of a journal. Without it, a
        ``venue.toml`` there or one folder above is taken.
    partition
        In a venue with partitions: the name of the one whose journal is read.
    index
        Whether the snapshots beside the journal are used. Without them each query executes all commands.

    Raises
    ------
    FileNotFoundError
        The path does not exist.
    ConfigurationError
        The configuration has an error; the message has its file, line and key.
    DataError
        There is no journal, it is damaged, or another venue wrote it.

    Examples
    --------
    >>> day = corro.journal("runs/flash_crash-1")
    >>> day.trades().to_polars()
    >>> day.book_at("2026-01-05T14:30:10", depth=5).bids["price"]
    """
    place = Path(os.fspath(path))
    if not place.exists():
        raise FileNotFoundError(f"{place}: no such file or folder")
    chosen = None if config is None else Path(os.fspath(config))
    if chosen is not None and not chosen.is_file():
        raise FileNotFoundError(f"config={chosen}: no such file")
    directory = ""
    if place.is_file():
        if chosen is not None:
            raise ValueError(f"{place} is a file; with config=, name the folder of a journal")
        chosen = place
    else:
        directory = str(place)
        if chosen is None and (place / _CONFIGURATION).is_file():
            chosen = place / _CONFIGURATION
            # A run's folder may have been moved since its configuration was written.
            directory = str(place / _JOURNAL) if (place / _JOURNAL).is_dir() else ""
        elif chosen is None and (place.parent / _CONFIGURATION).is_file():
            chosen = place.parent / _CONFIGURATION
        elif chosen is None:
            raise ValueError(
                f"{place}: there is no {_CONFIGURATION} in it or beside it; give the configuration of the venue that "
                'wrote the journal as config="FILE"'
            )
    if partition is not None and not isinstance(partition, str):
        raise TypeError(f"partition={partition!r}: give the name of a partition")
    return Journal(_corro.Journal(str(chosen), directory, partition or "", not index), chosen)


def instrument_of(each: _corro.InstrumentFacts) -> Instrument:
    """The documented form of an instrument."""
    expiry = np.datetime64(each.expiry_ns, "ns") if each.expiry_ns else None
    return Instrument(each.name, each.id, each.kind, each.tick_size, each.lot_size, each.decimals, expiry)


def book_of(made: _corro.BookFacts) -> Book:
    """The documented form of a book."""
    return Book(
        instrument=made.instrument,
        sequence=made.sequence,
        time=np.datetime64(made.time_ns, "ns"),
        levels=Frame(made.levels),
        orders=Frame(made.orders) if made.orders is not None else None,
        last=made.last,
        high=made.high,
        low=made.low,
        open=made.open,
        volume=made.volume,
        open_interest=made.open_interest,
    )


def instrument_argument(name: str | None) -> str:
    if name is None:
        return ""
    if not isinstance(name, str):
        raise TypeError(f"instrument={name!r}: give the instrument's name, such as \"ESZ6\"")
    if not name:
        raise ValueError('instrument="": give the name of an instrument, or leave it out')
    return name


def _folder(folder: str | os.PathLike[str]) -> Path:
    place = Path(os.fspath(folder))
    if place.exists() and not place.is_dir():
        raise NotADirectoryError(f"{place} is a file; give a folder for the files")
    place.mkdir(parents=True, exist_ok=True)
    return place


def _interval(every: SupportsIndex) -> int:
    try:
        interval = operator.index(every)
    except TypeError:
        raise TypeError(f"every={every!r}: give a number of commands, such as 50_000") from None
    if not 100 <= interval <= 1_000_000_000:
        raise ValueError(f"every={interval}: from 100 to 1,000,000,000 commands between two snapshots")
    return interval


def _needed_parquet() -> Any:
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as e:
        raise ImportError("to_parquet needs pyarrow: pip install pyarrow") from e


def depth_argument(depth: SupportsIndex | None) -> int:
    if depth is None:
        return 0
    try:
        levels = operator.index(depth)
    except TypeError:
        raise TypeError(f"depth={depth!r}: give a number of levels") from None
    if not 1 <= levels <= _DEPTH_MOST:
        raise ValueError(f"depth={levels}: from 1 to {_DEPTH_MOST:,} levels; leave it out for all")
    return levels


def _range_of(
    start: Time | None, end: Time | None, first: SupportsIndex | None, last: SupportsIndex | None
) -> tuple[tuple[str, int], tuple[str, int]]:
    begin = _range(start, first, "start", "first", True)
    finish = _range(end, last, "end", "last", False)
    if begin[0] == finish[0] and begin[1] > finish[1]:
        raise ValueError("the range ends before it starts; exchange the two moments")
    return begin, finish


def _range(
    time: Time | None, number: SupportsIndex | None, time_name: str, number_name: str, is_begin: bool
) -> tuple[str, int]:
    """One end of a range, as the native part takes it."""
    if time is not None and number is not None:
        raise ValueError(f"give {time_name} (a time) or {number_name} (a sequence number), not both")
    if time is not None:
        return "time", nanoseconds(time_name, time)
    if number is not None:
        return "sequence", sequence(number_name, number)
    return ("sequence", 0) if is_begin else ("end", 0)
