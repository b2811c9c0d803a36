# SPDX-License-Identifier: Apache-2.0
"""The venue's market data over TCP, with asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from corro import _wire as wire
from corro._client import SessionError, address_of
from corro._journal import Side
from corro._serve import Address, Venue

_CONNECT_TIMEOUT = 10.0
_BEAT_SECONDS = 0.9
_SILENCE_SECONDS = 15.0
_LOGIN = b"L" + b" " * 6 + b" " * 10 + b" " * 10


@dataclass
class _Level:
    quantity: int
    orders: int


@dataclass
class _Instrument:
    definition: wire.InstrumentDefinition
    bids: dict[int, _Level]
    asks: dict[int, _Level]
    last: float = float("nan")
    volume: int = 0


class Feed:
    """A subscription of the feed, with the books. Made by `Feed.connect`; an asynchronous context manager.

    ``async for message in feed`` gives every public message in the venue's order; the books have its effect by then.

    Examples
    --------
    >>> async with await corro.Feed.connect(venue) as feed:
    ...     async for message in feed:
    ...         print(message, feed.book("ESZ6")[0]["price"][:1])
    """

    def __init__(self) -> None:
        """Use `Feed.connect`: a feed without a connection is of no use."""
        self._known: dict[int, _Instrument] = {}
        self._ids: dict[str, int] = {}
        self._is_consistent = True
        self._next = 0
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._beats: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, venue: Venue | Address | str, snapshots: Address | str | None = None) -> Feed:
        """Takes a snapshot and joins the feed behind it.

        Parameters
        ----------
        venue
            A `Venue`; or its feed, as ``(host, port)`` or ``"host:port"``.
        snapshots
            The port of its snapshots, unless `venue` is a `Venue`.
        """
        self = cls()
        if isinstance(venue, Venue):
            feed, pictures = venue.feed, venue.snapshots
        else:
            if snapshots is None:
                raise ValueError("snapshots: give the address of the venue's snapshots, too")
            feed, pictures = address_of(venue), address_of(snapshots)
        await asyncio.wait_for(self._join(feed, pictures), _CONNECT_TIMEOUT)
        return self

    @property
    def instruments(self) -> dict[str, wire.InstrumentDefinition]:
        """The venue's instruments, by name."""
        return {name: self._known[number].definition for name, number in self._ids.items()}

    @property
    def next_sequence(self) -> int:
        """The number of the next message."""
        return self._next

    @property
    def is_consistent(self) -> bool:
        """Whether the last message was the last of its command: between, a book is in the middle of a change."""
        return self._is_consistent

    def book(self, instrument: str, depth: int | None = None) -> tuple[Side, Side]:
        """Bids and asks, best first: price, quantity and orders of each level as arrays.

        Parameters
        ----------
        instrument
            Its name.
        depth
            Levels of each side; all if left out.
        """
        of = self._instrument(instrument)
        return _side(of.bids, True, depth), _side(of.asks, False, depth)

    def last(self, instrument: str) -> float:
        """The price of the last trade since the feed was joined; NaN before."""
        return self._instrument(instrument).last

    def volume(self, instrument: str) -> int:
        """The volume of the day, as far as the venue has told."""
        return self._instrument(instrument).volume

    async def close(self) -> None:
        """Leaves the feed."""
        if self._beats is not None:
            self._beats.cancel()
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()
            self._writer = None

    async def __aenter__(self) -> Feed:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIterator[wire.Message]:
        return self

    async def __anext__(self) -> wire.Message:
        if self._writer is None or self._reader is None:
            raise StopAsyncIteration
        while True:
            kind, payload = await asyncio.wait_for(_packet(self._reader), _SILENCE_SECONDS)
            if kind == b"S":
                message = _message(payload)
                self._next += 1
                self._apply(message)
                return message
            if kind == b"Z":
                await self.close()
                raise StopAsyncIteration

    def _instrument(self, name: str) -> _Instrument:
        if name not in self._ids:
            raise ValueError(f'no instrument "{name}"; the venue has: {", ".join(self._ids)}')
        return self._known[self._ids[name]]

    async def _join(self, feed: Address, snapshots: Address) -> None:
        reader, writer = await _log_in(snapshots, 1)
        last = 0
        try:
            while True:
                kind, payload = await _packet(reader)
                if kind == b"Z":
                    break
                if kind == b"S":
                    message = _message(payload)
                    if isinstance(message, wire.SnapshotEnd):
                        last = message.last_sequence
                    self._apply(message, is_snapshot=True)
        finally:
            writer.close()
        self._next = last + 1
        self._reader, self._writer = await _log_in(feed, self._next)
        self._beats = asyncio.create_task(self._beat(self._writer))

    async def _beat(self, writer: asyncio.StreamWriter) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            writer.write(b"\x00\x01R")

    def _apply(self, message: wire.Message, is_snapshot: bool = False) -> None:
        if isinstance(message, wire.InstrumentDefinition):
            self._known[message.instrument] = _Instrument(message, {}, {})
            self._ids[message.symbol] = message.instrument
            return
        if isinstance(message, wire.InstrumentDefined):
            like = self._known.get(message.like)
            if like is not None and message.instrument not in self._known:
                made = wire.InstrumentDefinition.read(like.definition.block())
                made.instrument, made.symbol, made.expiry = message.instrument, message.symbol, message.expiry
                self._known[made.instrument] = _Instrument(made, {}, {})
                self._ids[made.symbol] = made.instrument
        flags = getattr(message, "flags", None)
        if flags is not None and not is_snapshot:
            self._is_consistent = bool(flags & wire.EventFlags.LAST_OF_COMMAND)
        of = self._known.get(getattr(message, "instrument", 0))
        if of is None:
            return
        if isinstance(message, wire.OrderAdded):
            if is_snapshot and message.price is not None:
                levels = of.bids if message.side == wire.Side.BUY else of.asks
                level = levels.setdefault(message.price, _Level(0, 0))
                level.quantity += message.quantity
                level.orders += 1
        elif isinstance(message, wire.LevelChanged):
            if message.price is not None:
                levels = of.bids if message.side == wire.Side.BUY else of.asks
                if message.quantity:
                    levels[message.price] = _Level(message.quantity, message.orders_count)
                else:
                    levels.pop(message.price, None)
        elif isinstance(message, wire.Trade):
            of.last = float("nan") if message.price is None else message.price / 1e9
        elif isinstance(message, wire.Statistics):
            of.volume = message.volume


def _side(levels: dict[int, _Level], is_bid: bool, depth: int | None) -> Side:
    prices = sorted(levels, reverse=is_bid)[:depth]
    columns: dict[str, npt.NDArray[Any]] = {
        "price": np.array(prices, dtype=np.int64) / 1e9,
        "quantity": np.array([levels[each].quantity for each in prices], dtype=np.int64),
        "orders": np.array([levels[each].orders for each in prices], dtype=np.int64),
    }
    return columns


async def _log_in(address: Address, sequence: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(*address)
    try:
        login = _LOGIN + str(sequence).rjust(20).encode("ascii")
        writer.write(len(login).to_bytes(2, "big") + login)
        kind, payload = await _packet(reader)
        if kind == b"J":
            raise SessionError(f"the venue refuses the login: {payload.decode('ascii', 'replace')}")
        if kind != b"A":
            raise SessionError("the peer is no feed: it does not answer the login")
    except BaseException:
        writer.close()
        raise
    return reader, writer


async def _packet(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """A SoupBinTCP packet: its type and what follows."""
    try:
        size = int.from_bytes(await reader.readexactly(2), "big")
        packet = await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        raise SessionError("the venue closed the feed; a slow reader is cut off") from None
    return packet[:1], packet[1:]


def _message(payload: bytes) -> wire.Message:
    if len(payload) < wire.HEADER.size:
        raise wire.WireError("a packet is shorter than a header")
    length, template, schema, version, _ = wire.HEADER.unpack_from(payload)
    kind = wire.MESSAGES.get(template)
    if schema != wire.SCHEMA_ID or version == 0 or kind is None or wire.HEADER.size + length != len(payload):
        raise wire.WireError("a packet has no message of Corro Binary")
    if length < kind.LAYOUT.size:
        raise wire.WireError(f"{kind.NAME}: the block is too short")
    return kind.read(payload, wire.HEADER.size)
