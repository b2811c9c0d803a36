# SPDX-License-Identifier: Apache-2.0
"""Seats: your own trader in a simulated market; and what every trader of one's own knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from corro._arguments import count_argument
from corro._frame import Frame
from corro._journal import instrument_argument
from corro._price import Price, nano

if TYPE_CHECKING:
    from corro import _corro


@dataclass(frozen=True)
class Quote:
    """The best prices of an instrument as a seat has seen them. Prices that do not exist are NaN."""

    time: np.datetime64
    """When the venue published them."""
    bid: float
    ask: float
    bid_quantity: int
    ask_quantity: int
    last: float
    volume: int
    """Traded since the start."""

    @property
    def mid(self) -> float:
        """The middle of bid and ask."""
        return (self.bid + self.ask) / 2

    @property
    def spread(self) -> float:
        """Ask less bid."""
        return self.ask - self.bid


class Trader:
    """What a trader of one's own knows: its part of a `Market`."""

    def __init__(self, native: _corro.Market, index: int, name: str) -> None:
        self._native = native
        self._index = index
        self._name = name

    @property
    def name(self) -> str:
        """Its name among the agents."""
        return self._name

    @property
    def orders(self) -> Frame:
        """Its open orders as far as it knows: number, instrument, side, price, open, state, sent.

        The state is ``"sent"`` before the first answer, ``"open"``, or ``"cancelling"`` after a cancel was sent.
        """
        return Frame(self._native.seat_orders(self._index))

    @property
    def holdings(self) -> Frame:
        """What it holds as far as it knows: instrument, position, cash, traded, fees."""
        return Frame(self._native.seat_holdings(self._index))

    def fills(self) -> Frame:
        """Its fills since the last call: time, number, instrument, side, price, quantity, aggressor."""
        return Frame(self._native.take_fills(self._index))

    def position(self, instrument: str | None = None) -> int:
        """What it holds of an instrument; negative when short."""
        return self._native.seat_position(self._index, instrument_argument(instrument))

    def quote(self, instrument: str | None = None) -> Quote:
        """The best prices as the feed has shown them to the seat by now."""
        time, bid, ask, bid_quantity, ask_quantity, last, volume = self._native.seat_quote(
            self._index, instrument_argument(instrument)
        )
        return Quote(np.datetime64(time, "ns"), bid, ask, bid_quantity, ask_quantity, last, volume)

    def profit(self, instrument: str | None = None) -> float:
        """Cash less fees, and the position at the middle that it sees (the last price, without both sides)."""
        names = [instrument] if instrument is not None else [str(each) for each in self.holdings["instrument"]]
        made = 0.0
        for name in names:
            made += self._native.seat_cash(self._index, instrument_argument(name))
            position = self.position(name)
            if position:
                quote = self.quote(name)
                made += position * (quote.mid if quote.mid == quote.mid else quote.last)
        return made

    def _cancel(self, number: SupportsIndex) -> int:
        return self._native.cancel(self._index, count_argument("number", number))

    def _amend(self, number: SupportsIndex, price: Price | None, quantity: SupportsIndex | None) -> int:
        if price is None and quantity is None:
            raise ValueError("amend: give a price, a quantity, or both")
        return self._native.amend(
            self._index,
            count_argument("number", number),
            price is not None,
            0 if price is None else nano("price", price),
            0 if quantity is None else count_argument("quantity", quantity),
        )


class Seat(Trader):
    """A trader of a `Market` that acts between two calls of ``run`` or ``step``. Made by ``Market(seats=...)``.

    Requests leave at once and travel the seat's link, as those of every agent; they take effect, and their answers
    arrive, while the market runs on. What a seat knows is what has reached it. The same requests at the same times give
    the same market again. A seat that does nothing changes nothing.

    Examples
    --------
    >>> market = corro.Market("config/markets/calm.toml", seats={"me": "makers"})
    >>> me = market.seat("me")
    >>> while market.step("100ms"):
    ...     if me.position() == 0 and not len(me.orders):
    ...         me.buy(1, me.quote().bid)
    """

    def buy(
        self,
        quantity: SupportsIndex,
        price: Price | None = None,
        *,
        instrument: str | None = None,
        time_in_force: str = "",
        post_only: bool = False,
        display_quantity: SupportsIndex = 0,
    ) -> int:
        """Sends an order to buy.

        Parameters
        ----------
        quantity, price
            Units, and the limit; a market order without one.
        instrument
            May be left out if there is only one.
        time_in_force
            ``"day"``, ``"gtc"``, ``"ioc"`` or ``"fok"``; day with a price and ioc without one, if left out.
        post_only
            Rejected if it would trade at once.
        display_quantity
            Of an iceberg: what the book shows at a time.

        Returns
        -------
        int
            The order's number, for `cancel`, `amend`, and in `orders` and `fills`.
        """
        return self._enter(True, quantity, price, instrument, time_in_force, post_only, display_quantity)

    def sell(
        self,
        quantity: SupportsIndex,
        price: Price | None = None,
        *,
        instrument: str | None = None,
        time_in_force: str = "",
        post_only: bool = False,
        display_quantity: SupportsIndex = 0,
    ) -> int:
        """Sends an order to sell; as `buy`."""
        return self._enter(False, quantity, price, instrument, time_in_force, post_only, display_quantity)

    def cancel(self, number: SupportsIndex) -> None:
        """Cancels an order of `orders`."""
        self._cancel(number)

    def cancel_all(self, instrument: str | None = None) -> None:
        """Cancels all orders, or those in one instrument."""
        self._native.cancel_all(self._index, instrument_argument(instrument))

    def amend(
        self, number: SupportsIndex, *, price: Price | None = None, quantity: SupportsIndex | None = None
    ) -> None:
        """Changes price or open quantity of an order of `orders`. Less quantity at the same price keeps its priority."""
        self._amend(number, price, quantity)

    def __repr__(self) -> str:
        return f"Seat({self._name!r})"

    def _enter(
        self,
        is_buy: bool,
        quantity: SupportsIndex,
        price: Price | None,
        instrument: str | None,
        time_in_force: str,
        post_only: bool,
        display_quantity: SupportsIndex,
    ) -> int:
        return self._native.enter(
            self._index,
            is_buy,
            instrument_argument(instrument),
            price is not None,
            0 if price is None else nano("price", price),
            count_argument("quantity", quantity),
            time_in_force or ("ioc" if price is None else "day"),
            post_only,
            count_argument("display_quantity", display_quantity, least=0),
        )
