# SPDX-License-Identifier: Apache-2.0
"""Agents in Python: coroutines on the market's clock, and crowds that act as arrays."""

from __future__ import annotations

import inspect
import random
import types
import zlib
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from corro._arguments import Duration, count_argument, duration_ns
from corro._frame import Frame
from corro._journal import instrument_argument
from corro._price import Price, nano
from corro._seat import Trader

if TYPE_CHECKING:
    from corro import _corro

_ANSWERS, _TRADES, _QUOTES = 1, 2, 4
_COUNT_MOST = 1_000_000


@dataclass(frozen=True)
class Answer:
    """The venue's first answer to a request of an `Agent`. True when the request was accepted."""

    accepted: bool
    reason: str
    """Why not, such as ``"post_only_would_trade"``; empty if it was accepted."""

    def __bool__(self) -> bool:
        return self.accepted


_ACCEPTED = Answer(True, "")
_STOPPED = Answer(False, "stopped")


class Request:
    """A request that an `Agent` has sent. ``await`` it for the `Answer`, or do not; it is on its way in any case."""

    __slots__ = ("_made_at", "_me", "number")

    number: int
    """Of an order: what `Agent.cancel` and `Agent.amend` take, and what `orders` and `fills` show."""

    def __init__(self, me: Agent, number: int) -> None:
        self._me = me
        self._made_at = me._waits
        self.number = number

    def __await__(self) -> Generator[Any, Any, Answer]:
        if self._made_at != self._me._waits:
            raise RuntimeError("await a request before any other wait: its answer may have come since")
        self._me._waits += 1
        code: int = yield self.number
        if code == 0:
            return _ACCEPTED
        return _STOPPED if code < 0 else Answer(False, self._me._native.reason(code))

    def __repr__(self) -> str:
        return f"Request({self.number})"


class Agent(Trader):
    """What a function in ``Market(agents={"me": function})`` gets: an account, its links, the market's clock.

    The function is a coroutine that awaits this object's waits and requests::

        async def agent(me):
            while await me.sleep(1.0):
                await me.buy("ESZ6", 1, me.quote().bid)

    or a plain function that returns how many seconds pass until its next call, and None when it is done.

    All that an agent knows has travelled its link. Time passes only while it waits: its computing takes none. Nothing but
    this object's methods can be awaited. Use `random` for random numbers: then the same seed gives the same market.
    """

    def __init__(self, native: _corro.Market, index: int, name: str, seed: int) -> None:
        super().__init__(native, index, name)
        self._seed = seed
        self._random: random.Random | None = None
        self._waits = 0

    @property
    def random(self) -> random.Random:
        """Random numbers of this agent: they depend on the market's seed and the agent's name."""
        if self._random is None:
            self._random = random.Random(self._seed << 32 | zlib.crc32(self._name.encode()))
        return self._random

    @property
    def time(self) -> float:
        """Seconds since the market's start."""
        return self._native.now_ns() / 1e9

    @types.coroutine
    def _wait(self, what: float | tuple[int, str, float]) -> Generator[Any, Any, bool]:
        self._waits += 1
        return bool((yield what))

    def sleep(self, duration: Duration) -> Awaitable[bool]:
        """Waits. True afterwards; False if the venue has stopped the agent, which should then return.

        Parameters
        ----------
        duration
            Seconds, or a text such as ``"250us"``.
        """
        if type(duration) is not float or not 0 <= duration < 604_800:
            duration = duration_ns("duration", duration) / 1e9
        return self._wait(duration)

    def next_quote(self, instrument: str | None = None, *, timeout: Duration = "168h") -> Awaitable[bool]:
        """Waits for a change of the best prices. False when the timeout came first, or the agent is stopped."""
        return self._news(_QUOTES, instrument, timeout)

    def next_trade(self, instrument: str | None = None, *, timeout: Duration = "168h") -> Awaitable[bool]:
        """Waits for a trade. False when the timeout came first, or the agent is stopped."""
        return self._news(_TRADES, instrument, timeout)

    def next_answer(self, *, timeout: Duration = "168h") -> Awaitable[bool]:
        """Waits for a private message: an answer, or a fill. False when the timeout came first."""
        return self._news(_ANSWERS, self._some_instrument(), timeout)

    def next_news(self, instrument: str | None = None, *, timeout: Duration = "168h") -> Awaitable[bool]:
        """Waits for whichever of the three comes first."""
        return self._news(_ANSWERS | _TRADES | _QUOTES, instrument, timeout)

    def buy(
        self,
        instrument: str | None,
        quantity: SupportsIndex,
        price: Price | None = None,
        *,
        time_in_force: str = "",
        post_only: bool = False,
        display_quantity: SupportsIndex = 0,
    ) -> Request:
        """Sends an order to buy.

        Parameters
        ----------
        instrument
            None if there is only one.
        quantity, price
            Units, and the limit; a market order without one.
        time_in_force, post_only, display_quantity
            As for `Seat.buy`.

        Returns
        -------
        Request
            With the order's number. ``await me.buy(...)`` waits for the answer.
        """
        return self._send(True, instrument, quantity, price, time_in_force, post_only, display_quantity)

    def sell(
        self,
        instrument: str | None,
        quantity: SupportsIndex,
        price: Price | None = None,
        *,
        time_in_force: str = "",
        post_only: bool = False,
        display_quantity: SupportsIndex = 0,
    ) -> Request:
        """Sends an order to sell; as `buy`."""
        return self._send(False, instrument, quantity, price, time_in_force, post_only, display_quantity)

    def cancel(self, order: Request | SupportsIndex) -> Request:
        """Cancels an order of `orders`."""
        return Request(self, self._cancel(_number(order)))

    def cancel_all(self, instrument: str | None = None) -> Request:
        """Cancels all orders, or those in one instrument."""
        return Request(self, self._native.cancel_all(self._index, instrument_argument(instrument)))

    def amend(
        self, order: Request | SupportsIndex, *, price: Price | None = None, quantity: SupportsIndex | None = None
    ) -> Request:
        """Changes price or open quantity of an order of `orders`. Less quantity at the same price keeps its priority."""
        return Request(self, self._amend(_number(order), price, quantity))

    def __repr__(self) -> str:
        return f"Agent({self._name!r})"

    def _send(
        self,
        is_buy: bool,
        instrument: str | None,
        quantity: SupportsIndex,
        price: Price | None,
        time_in_force: str,
        post_only: bool,
        display_quantity: SupportsIndex,
    ) -> Request:
        return Request(
            self,
            self._native.enter(
                self._index,
                is_buy,
                instrument_argument(instrument),
                price is not None,
                0 if price is None else nano("price", price),
                count_argument("quantity", quantity),
                time_in_force or ("ioc" if price is None else "day"),
                post_only,
                0 if display_quantity == 0 else count_argument("display_quantity", display_quantity),
            ),
        )

    def _news(self, kinds: int, instrument: str | None, timeout: Duration) -> Awaitable[bool]:
        name = instrument_argument(instrument)
        self._native.seat_position(self._index, name)  # refuses an unknown one, here and not in the market's run
        return self._wait((kinds, name, duration_ns("timeout", timeout) / 1e9))

    def _some_instrument(self) -> str:
        return self._native.instrument_names()[0]


AgentFunction: TypeAlias = "Callable[..., Awaitable[object]] | Callable[..., float | None]"
"""A coroutine function, or a function that returns the seconds until its next call; of an `Agent`."""


@dataclass(frozen=True)
class Agents:
    """Several agents of the same function, for ``Market(agents=...)``.

    Examples
    --------
    >>> corro.Market("calm.toml", agents={"trader": corro.Agents(trader, count=10, beside="noise", lots=3)})
    """

    function: AgentFunction
    count: int
    beside: str | None
    parameters: Mapping[str, Any]

    def __init__(self, function: AgentFunction, *, count: SupportsIndex = 1, beside: str | None = None, **parameters: Any) -> None:
        if not callable(function):
            raise TypeError(f"function={function!r}: give an async function, or a function")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "count", count_argument("count", count))
        object.__setattr__(self, "beside", beside)
        object.__setattr__(self, "parameters", dict(parameters))


@dataclass(frozen=True)
class Actions:
    """What the members of a crowd do: one row for each, or rows for the members in `agent`.

    Each of the others is an array of that length, or one value for all rows.
    """

    side: npt.ArrayLike
    """Above 0 buys, below 0 sells; 0 and NaN send no order."""
    price: npt.ArrayLike
    """The limit; the nearest price that the instrument accepts is taken. Infinite: at market. NaN: no order."""
    quantity: npt.ArrayLike = 1
    """Units."""
    cancel: npt.ArrayLike = False
    """Whether the member's open orders are cancelled before."""
    agent: npt.ArrayLike | None = None
    """Members, from 0; all of them in order if left out."""
    time_in_force: str = "day"


class Batch:
    """What the members of a crowd know at a moment: arrays with one value for each of them.

    Members have links of their own, so they see prices of different moments.
    """

    def __init__(self, frame: Frame, time: float, generator: np.random.Generator) -> None:
        self._frame = frame
        self.time = time
        """Seconds since the market's start."""
        self.random = generator
        """Random numbers of the crowd: they depend on the market's seed and the crowd's name."""

    def __len__(self) -> int:
        return len(self._frame)

    @property
    def bid(self) -> npt.NDArray[np.float64]:
        """The best bid as each has seen it; NaN if there is none. Also `ask` and `last`."""
        return self._frame["bid"]

    @property
    def ask(self) -> npt.NDArray[np.float64]:
        """The best ask."""
        return self._frame["ask"]

    @property
    def last(self) -> npt.NDArray[np.float64]:
        """The last price."""
        return self._frame["last"]

    @property
    def bid_quantity(self) -> npt.NDArray[np.int64]:
        """Units at the best bid."""
        return self._frame["bid_quantity"]

    @property
    def ask_quantity(self) -> npt.NDArray[np.int64]:
        """Units at the best ask."""
        return self._frame["ask_quantity"]

    @property
    def position(self) -> npt.NDArray[np.int64]:
        """Units that each holds, as far as it knows; negative when short."""
        return self._frame["position"]

    @property
    def cash(self) -> npt.NDArray[np.float64]:
        """Received less paid and fees."""
        return self._frame["cash"]

    @property
    def open_orders(self) -> npt.NDArray[np.int64]:
        """How many orders each has open, as far as it knows."""
        return self._frame["open_orders"]


@dataclass(frozen=True)
class Crowd:
    """Agents that act together, as arrays, for ``Market(agents=...)``.

    At fixed times `act` gets a `Batch` and returns `Actions`, or None. Each request leaves then, and travels the link of
    its own member.

    Examples
    --------
    >>> def act(batch):
    ...     side = batch.random.choice([-1, 1], len(batch))
    ...     return corro.Actions(side, batch.last - side * batch.random.exponential(0.5, len(batch)), cancel=True)
    >>> corro.Market("calm.toml", agents={"crowd": corro.Crowd(act, count=1000, every="100ms", beside="noise")})
    """

    act: Callable[[Batch], Actions | None]
    count: int
    every: Duration
    beside: str | None = None
    instrument: str | None = None
    _every_ns: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        if not callable(self.act):
            raise TypeError(f"act={self.act!r}: give a function of a Batch that returns Actions")
        if not count_argument("count", self.count) <= _COUNT_MOST:
            raise ValueError(f"count={self.count}: a crowd has at most {_COUNT_MOST:,} members")
        object.__setattr__(self, "_every_ns", duration_ns("every", self.every))
        if self._every_ns == 0:
            raise ValueError(f"every={self.every!r}: give a duration above 0")


AgentsLike: TypeAlias = "Mapping[str, AgentFunction | Agents | Crowd]"


class Cast:
    """The agents of one market whose code is Python."""

    def __init__(self, agents: AgentsLike, seed: int) -> None:
        if not isinstance(agents, Mapping):
            raise TypeError(f'agents={agents!r}: give a dictionary from names, such as {{"me": trader}}')
        self._seed = seed
        self._agents: list[tuple[str, Agents]] = []
        self._crowds: list[tuple[str, Crowd]] = []
        for name, what in agents.items():
            if not isinstance(name, str) or not name:
                raise ValueError(f"agents: {name!r} is no name")
            if isinstance(what, Crowd):
                self._crowds.append((name, what))
                continue
            group = what if isinstance(what, Agents) else Agents(what)
            for i in range(group.count):
                self._agents.append((name if group.count == 1 else f"{name}-{i + 1}", group))
        self._coroutines: list[Generator[Any, Any, None]] = []
        self._acts: list[Callable[[], None]] = []
        self.by_name: dict[str, Agent] = {}

    @property
    def traders(self) -> list[tuple[str, str]]:
        """Names, and groups beside which they are."""
        return [(name, group.beside or "") for name, group in self._agents]

    @property
    def crowds(self) -> list[tuple[str, str, int, str, int]]:
        """Names, groups, counts, instruments, intervals."""
        return [
            (name, each.beside or "", each.count, instrument_argument(each.instrument), each._every_ns)
            for name, each in self._crowds
        ]

    def enter(self, native: _corro.Market, seats: int) -> None:
        """Gives them to their market, whose seats come before them."""
        for place, (name, group) in enumerate(self._agents):
            me = Agent(native, seats + place, name, self._seed)
            self.by_name[name] = me
            self._coroutines.append(_coroutine(group, me))
        for place, (name, crowd) in enumerate(self._crowds):
            generator = np.random.Generator(np.random.PCG64([self._seed, zlib.crc32(name.encode())]))
            self._acts.append(_act(native, place, crowd, generator))
        if self._agents or self._crowds:
            native.drive_with(self._coroutines, self._acts)


def _number(order: Request | SupportsIndex) -> int:
    return order.number if isinstance(order, Request) else count_argument("order", order)


def _coroutine(group: Agents, me: Agent) -> Any:
    function = group.function
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):
        return function(me, **group.parameters)
    return _calls(function, me, group.parameters)


def _calls(function: Callable[..., Any], me: Agent, parameters: Mapping[str, Any]) -> Generator[Any, Any, None]:
    goes_on = True
    while goes_on:
        pause = function(me, **parameters)
        if pause is None:
            return
        if type(pause) is not float or not 0 <= pause < 604_800:
            pause = duration_ns("the result of an agent's function", pause) / 1e9
        goes_on = bool((yield pause))


def _act(native: _corro.Market, place: int, crowd: Crowd, generator: np.random.Generator) -> Callable[[], None]:
    function, everyone = crowd.act, np.arange(crowd.count, dtype=np.int32)

    def act() -> None:
        wanted = function(Batch(Frame(native.crowd_view(place)), native.now_ns() / 1e9, generator))
        if wanted is None:
            return
        if not isinstance(wanted, Actions):
            raise TypeError(f"the function of a crowd returned {type(wanted).__name__}; return corro.Actions(...), or None")
        member = everyone if wanted.agent is None else _column("agent", wanted.agent, None, np.int32)
        rows = len(member)
        native.crowd_send(
            place,
            member,
            _column("side", wanted.side, rows, np.int8),
            _column("price", wanted.price, rows, np.float64),
            _column("quantity", wanted.quantity, rows, np.int64),
            _column("cancel", wanted.cancel, rows, np.uint8),
            wanted.time_in_force,
        )

    return act


def _column(name: str, given: npt.ArrayLike, rows: int | None, kind: type[np.generic]) -> npt.NDArray[Any]:
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise TypeError(f"{name} is masked; give an array without a mask, such as {name}.filled(0)")
    values = np.asarray(given)
    if name == "cancel" and values.dtype.kind in "iu":
        values = values != 0
    if name == "agent" and values.dtype.kind == "b":
        raise TypeError("agent has the type bool; give the numbers of the members, such as np.flatnonzero(mask)")
    if name == "side" and values.dtype.kind == "f":
        values = np.sign(np.nan_to_num(values)).astype(np.int8)
    if np.issubdtype(kind, np.integer) and values.dtype.kind not in "iub":
        raise TypeError(f"{name} has the type {values.dtype}; give whole numbers, such as {name}.astype(int)")
    if values.dtype.kind not in "iubf":
        raise TypeError(f"{name} has the type {values.dtype}; give numbers")
    if name == "side":
        if values.dtype.kind == "b":
            raise TypeError("side has the type bool; give 1 to buy, -1 to sell, 0 for no order")
        values = np.sign(values)
    if values.ndim > 1 or (rows is None and values.ndim != 1) or (rows is not None and values.ndim == 1 and len(values) != rows):
        wanted = "one dimension" if rows is None else f"{rows} values, or one"
        raise ValueError(f"{name} has the shape {values.shape}; give {wanted}")
    if values.dtype.kind in "iu" and not np.can_cast(values.dtype, kind) and values.size:
        bounds = np.iinfo(np.dtype(kind).name)
        if values.min() < bounds.min or values.max() > bounds.max:
            raise ValueError(f"{name} has values from {values.min()} to {values.max()}; they must be from {bounds.min} to {bounds.max}")
    if rows is not None and values.ndim == 0:
        return np.full(rows, values, dtype=kind)
    return np.ascontiguousarray(values, dtype=kind)
