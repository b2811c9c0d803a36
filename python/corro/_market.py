# SPDX-License-Identifier: Apache-2.0
"""Markets of agents in virtual time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from corro import _corro
from corro._agent import Agent, AgentsLike, Cast
from corro._arguments import Duration, duration_ns, seed_argument
from corro._frame import Frame
from corro._journal import Book, Instrument, book_of, depth_argument, instrument_argument, instrument_of
from corro._seat import Seat
from corro._toml import to_toml

TABLES = ("orders", "trades", "levels", "quotes")

MarketProgress = Callable[[np.timedelta64, np.timedelta64], object]
_PROGRESS_PIECES = 100

@dataclass(frozen=True)
class Scenario:
    """The description of a market. Made by `corro.scenario`; picklable.

    `Market`, `sweep` and `compare` take it. `to_dict` gives a dictionary, whose changed copy is a variant.
    """

    text: str
    """TOML, as docs/spec/scenarios.md describes it."""
    file: str = "scenario"
    """For messages."""
    name: str = field(init=False, compare=False)
    about: str = field(init=False, compare=False)
    duration: np.timedelta64 = field(init=False, compare=False)
    start: np.datetime64 = field(init=False, compare=False)
    """The time of day at the beginning."""
    seed: int = field(init=False, compare=False)
    """Of runs that name none."""
    agents: int = field(init=False, compare=False)
    instruments: tuple[Instrument, ...] = field(init=False, compare=False)
    sample_ns: int = field(init=False, compare=False, repr=False)
    """The interval of its metrics' samples, in nanoseconds."""

    def __post_init__(self) -> None:
        facts = _corro.read_scenario(self.text, self.file)
        for name, value in {
            "name": facts.name,
            "about": facts.about,
            "duration": np.timedelta64(facts.duration_ns, "ns"),
            "start": np.datetime64(facts.start_ns, "ns"),
            "seed": facts.seed,
            "agents": facts.agents,
            "instruments": tuple(instrument_of(each) for each in facts.instruments),
            "sample_ns": facts.sample_ns,
        }.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """The scenario as a dictionary, to change and to give to `corro.scenario`.

        A dictionary lies beside no file: what it names, such as a path of values, is looked for in the working directory.
        """
        import tomllib

        return tomllib.loads(self.text)

    def __repr__(self) -> str:
        instruments = ", ".join(each.name for each in self.instruments)
        return f"Scenario({self.name!r}, {self.agents} agents, {instruments}, {_ns(self.duration) / 1e9:g} s)"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Scenario, (self.text, self.file))


ScenarioLike: TypeAlias = "Scenario | str | os.PathLike[str] | Mapping[str, Any]"


def scenario(source: ScenarioLike) -> Scenario:
    """Reads the description of a market.

    Parameters
    ----------
    source
        A TOML file; or its content as a dictionary, such as ``{"market": {...}, "instrument": [...], ...}``.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ConfigurationError
        A key or value is invalid; the message has file, line and key.
    """
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return Scenario(to_toml(source), "scenario from a dictionary")
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"{source!r} is no scenario; give a TOML file or a dictionary")
    place = Path(os.fspath(source))
    if place.is_dir():
        inside = place / "scenario.toml"
        if not inside.is_file():
            raise IsADirectoryError(f"{place} is a folder without a scenario.toml; give a TOML file")
        place = inside
    if not place.exists():
        raise FileNotFoundError(f"{place}: no such file; give a TOML file such as config/markets/calm.toml, or a dictionary")
    return Scenario(place.read_text(encoding="utf-8"), str(place))


@dataclass(frozen=True)
class Result:
    """What a run comes to. Picklable."""

    scenario: str
    seed: int
    time: np.timedelta64
    """How far the market ran."""
    commands: int
    trades: int
    rejects: int
    digest: str
    """A hash of all commands, as ``corro market run`` prints it."""
    state_hash: str
    metrics: dict[str, float]
    """As docs/spec/market_metrics.md defines them."""


class Market:
    """A market of agents in virtual time, with the venue's own matching.

    The same scenario and seed give the same market, command for command, as ``corro market run`` gives it.

    Parameters
    ----------
    scenario
        A TOML file, a dictionary of the same content, or a `Scenario`.
    seed
        The scenario's own if left out.
    record
        Which tables are kept while the market runs: some of ``"orders"``, ``"trades"``, ``"levels"``, ``"quotes"``.
    seats
        Places for traders of your own: names, as ``["me"]``, whose requests take no time; or a dictionary from names to
        groups of the scenario, as ``{"me": "makers"}``, whose link they get. See `seat`.
    agents
        Agents in Python, by name: functions of an `Agent`, `Agents` for several of one function, `Crowd` for many that act
        as arrays. They act while the market runs. The same code, scenario and seed give the same market.

    Examples
    --------
    >>> market = corro.Market("config/markets/calm.toml", seed=1)
    >>> market.run()
    >>> market.trades["price"]
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        seed: SupportsIndex | None = None,
        record: Iterable[str] = ("trades", "quotes"),
        seats: Iterable[str] | Mapping[str, str | None] = (),
        agents: AgentsLike | None = None,
    ) -> None:
        if hasattr(self, "_native"):
            raise RuntimeError("a market is made once: agents in it may be at work; make another Market")
        self._scenario = _scenario(scenario)
        self._seed = self._scenario.seed if seed is None else seed_argument("seed", seed)
        self._record = _record(record)
        wishes = _seats(seats)
        self._wishes, self._agents = dict(wishes), agents
        self._cast = Cast({} if agents is None else agents, self._seed)
        self._native = _corro.Market(
            self._scenario.text,
            self._scenario.file,
            self._seed,
            "orders" in self._record,
            "trades" in self._record,
            "levels" in self._record,
            "quotes" in self._record,
            wishes,
            self._cast.traders,
            self._cast.crowds,
        )
        self._cast.enter(self._native, len(wishes))
        self._seats = {name: Seat(self._native, place, name) for place, (name, _) in enumerate(wishes)}
        self._tables: tuple[int, _corro.Tables] | None = None

    @property
    def scenario(self) -> Scenario:
        """The description of the market."""
        return self._scenario

    @property
    def seed(self) -> int:
        """The seed of this run."""
        return self._seed

    def seat(self, name: str) -> Seat:
        """A seat of this market, by its name."""
        if name not in self._seats:
            known = ", ".join(f'"{each}"' for each in self._seats) or "none; make the market with seats="
            raise KeyError(f'no seat "{name}"; there are: {known}')
        return self._seats[name]

    def agent(self, name: str) -> Agent:
        """An agent of ``Market(agents=...)``, by its name: what it holds, its orders, its fills."""
        if name not in self._cast.by_name:
            known = ", ".join(f'"{each}"' for each in self._cast.by_name) or "none; make the market with agents="
            raise KeyError(f'no agent "{name}"; there are: {known}')
        return self._cast.by_name[name]

    @property
    def now(self) -> np.datetime64:
        """The market's time of day."""
        return self._scenario.start + np.timedelta64(self._native.now_ns(), "ns")

    @property
    def elapsed(self) -> np.timedelta64:
        """The market's time since its start."""
        return np.timedelta64(self._native.now_ns(), "ns")

    @property
    def is_over(self) -> bool:
        """Whether the scenario's duration is over. The market can run on."""
        return self._native.now_ns() >= _ns(self._scenario.duration)

    def run(self, until: Duration | None = None, *, progress: MarketProgress | None = None) -> Result:
        """Lets everything happen until a time since the start, inclusive.

        Computes all metrics of the run so far, which takes time in proportion to its trades: use `step` in a loop.

        Releases the GIL, except for agents in Python. Ctrl-C ends it; the next call goes on from there. An exception of an
        agent in Python comes out of here, and ends the market. So does Ctrl-C while such an agent runs.

        Parameters
        ----------
        until
            ``"90s"``, or seconds, a ``timedelta`` or a ``timedelta64``. The scenario's duration if left out.
        progress
            Called a hundred times, after equal pieces of the time, with the market's time and that at the end, as
            ``timedelta64``. It changes nothing in the market.

        Examples
        --------
        >>> market.run(progress=lambda now, end: print(f"{now / end:.0%}", end="\\r"))
        """
        target = _ns(self._scenario.duration) if until is None else duration_ns("until", until)
        now = self._native.now_ns()
        if target < now:
            raise ValueError(f"until={until!r} is past: the market is at {now / 1e9:g} s; make a new Market to start over")
        if progress is None or target == now:
            self._native.run(target)
            return self.result
        end = np.timedelta64(target, "ns")
        for piece in range(1, _PROGRESS_PIECES + 1):
            self._native.run(now + (target - now) * piece // _PROGRESS_PIECES)
            progress(self.elapsed, end)
        return self.result

    def step(self, by: Duration | None = None) -> bool:
        """Lets a piece of time pass.

        Parameters
        ----------
        by
            How much; the interval of the scenario's samples (one second, unless it says otherwise) if left out.

        Returns
        -------
        bool
            Whether the scenario's duration is not over yet, for ``while market.step("100ms"):``.
        """
        piece = self._scenario.sample_ns if by is None else duration_ns("by", by)
        if piece == 0:
            raise ValueError(f"by={by!r}: a step needs time; give a duration above 0")
        self._native.run(self._native.now_ns() + piece)
        return not self.is_over

    def fork(
        self,
        event: Mapping[str, Any] | None = None,
        *,
        at: Duration | None = None,
        record: Iterable[str] | None = None,
    ) -> Market:
        """Another market that is this one up to now, and goes its own way from there.

        The new market repeats this one, which takes as long as it took; its digest is compared. Agents in Python begin
        again with the same random numbers, so what they keep must be their own.

        Parameters
        ----------
        event
            What happens to the new market alone: the keys of an ``[[event]]`` of docs/spec/scenarios.md, such as
            ``{"kind": "phase", "phase": "halted"}``.
        at
            When, since the start; the event's own ``at`` if left out, and at once without one.
        record
            As for this market if left out.

        Raises
        ------
        RuntimeError
            The repetition came out differently: requests of seats are not repeated, or an agent in Python depends on more
            than its arguments.

        Examples
        --------
        >>> market.run("80s")
        >>> halted = market.fork({"kind": "phase", "phase": "halted"})
        >>> market.run().metrics["trades"], halted.run().metrics["trades"]
        """
        for each in self._seats.values():
            under_way = np.isin(each.orders["state"], ("sent", "cancelling"))
            if under_way.any():
                raise RuntimeError(f'seat "{each.name}" has requests under way, which a fork does not repeat; let the market run first')
        totals = self._native.totals()
        source: ScenarioLike = self._scenario
        if event is not None:
            if not isinstance(event, Mapping):
                raise TypeError(f'event={event!r}: give a dictionary, such as {{"kind": "phase", "phase": "halted"}}')
            if "at" in event:
                if at is not None:
                    raise ValueError(f"at={at!r}: the event has a time of its own, {event['at']!r}; give one of them")
                at = event["at"]
            when = totals.now_ns + 1 if at is None else duration_ns("at", at)
            if when <= totals.now_ns:
                raise ValueError(f"at={at!r} is past: the market is at {totals.now_ns / 1e9:g} s; leave it out for now")
            variant = self._scenario.to_dict()
            at_text = f"{when // 10**9}.{when % 10**9:09d}s"
            variant.setdefault("event", []).append({**event, "at": at_text})
            # In the same folder, where the files are that it names.
            place, name = os.path.split(self._scenario.file)
            source = Scenario(to_toml(variant), os.path.join(place, f"the fork of {name}"))
        elif at is not None:
            raise ValueError("at: give an event with it")
        made = Market(
            source,
            seed=self._seed,
            record=self._record if record is None else record,
            seats={name: beside or None for name, beside in self._wishes.items()},
            agents=self._agents,
        )
        made._native.run(totals.now_ns)
        again = made._native.totals()
        if (again.digest, again.commands) != (totals.digest, totals.commands):
            raise RuntimeError(
                "the fork is another market: requests of seats are not repeated, and agents in Python must depend on "
                "nothing but their arguments and their own random numbers"
            )
        return made

    @property
    def result(self) -> Result:
        """What the run comes to so far. Computes its metrics, which takes time in proportion to the trades so far."""
        totals = self._native.totals()
        return Result(
            scenario=self._scenario.name,
            seed=self._seed,
            time=np.timedelta64(totals.now_ns, "ns"),
            commands=totals.commands,
            trades=totals.trades,
            rejects=totals.rejects,
            digest=f"{totals.digest:016x}",
            state_hash=f"{totals.state_hash:016x}",
            metrics=self._native.metrics(),
        )

    @property
    def metrics(self) -> dict[str, float]:
        """The measures of the market so far, by name."""
        return self._native.metrics()

    @property
    def trades(self) -> Frame:
        """The trades so far, as `Journal.trades` has them."""
        return self._table("trades")

    @property
    def orders(self) -> Frame:
        """What happened to orders so far, as `Journal.orders` has it."""
        return self._table("orders")

    @property
    def levels(self) -> Frame:
        """The changes of price levels so far, as `Journal.levels` has them."""
        return self._table("levels")

    @property
    def quotes(self) -> Frame:
        """The best prices after each change of them, as `Journal.quotes` has them."""
        return self._table("quotes")

    @property
    def positions(self) -> Frame:
        """What each agent holds, and has earned: a row for each agent and instrument that it traded.

        account, agent, instrument, position (negative when short), cash (received less paid), traded (quantity), fees
        (paid), last (the instrument's last price), profit: cash and position at that price, less fees.
        """
        return Frame(self._native.positions())

    @property
    def notes(self) -> Frame:
        """The private numbers that agents noted: time, account, agent, what, value."""
        return Frame(self._native.notes())

    def book(self, instrument: str | None = None, *, depth: SupportsIndex | None = None, orders: bool = False) -> Book:
        """The book now.

        Parameters
        ----------
        instrument
            May be left out if there is only one.
        depth
            Levels of each side; all if left out.
        orders
            Whether the book has its orders, too.
        """
        return book_of(self._native.book(instrument_argument(instrument), depth_argument(depth), orders))

    def __repr__(self) -> str:
        totals = self._native.totals()
        return (
            f"Market({self._scenario.name!r}, seed {self._seed}, at {totals.now_ns / 1e9:g} s of "
            f"{_ns(self._scenario.duration) / 1e9:g} s, {totals.commands:,} commands, {totals.trades:,} trades)"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a running market cannot be pickled; pickle market.scenario, market.seed and market.result")

    def _table(self, name: str) -> Frame:
        if name not in self._record:
            recorded = ", ".join(f'"{each}"' for each in (*self._record, name))
            raise ValueError(f"{name} were not recorded; make the market with record=({recorded},)")
        now = self._native.totals().commands
        if self._tables is None or self._tables[0] != now:
            self._tables = (now, self._native.tables())
        made = self._tables[1][TABLES.index(name)]
        assert made is not None
        return Frame(made)


def _seats(seats: Iterable[str] | Mapping[str, str | None]) -> list[tuple[str, str]]:
    if isinstance(seats, str):
        raise TypeError(f'seats="{seats}": give several names, such as seats=["{seats}"]')
    wishes = (
        [(name, beside or "") for name, beside in seats.items()]
        if isinstance(seats, Mapping)
        else [(name, "") for name in seats]
    )
    for name, _ in wishes:
        if not isinstance(name, str) or not name:
            raise ValueError(f"seats: {name!r} is no name")
    if len({name for name, _ in wishes}) != len(wishes):
        raise ValueError("seats: a name is there twice")
    return wishes


def _record(record: Iterable[str]) -> tuple[str, ...]:
    known = ", ".join(f'"{each}"' for each in TABLES)
    if isinstance(record, str):
        raise TypeError(f'record="{record}": give several names, such as record=("{record}",); there are {known}')
    chosen = tuple(dict.fromkeys(record))
    for each in chosen:
        if each not in TABLES:
            raise ValueError(f"record: no table {each!r}; there are {known}")
    return chosen


def _scenario(source: ScenarioLike) -> Scenario:
    return scenario(source)


def _ns(duration: np.timedelta64) -> int:
    return int(duration.astype(np.int64))
