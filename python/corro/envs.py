# SPDX-License-Identifier: Apache-2.0
"""Environments of Gymnasium on simulated markets. Needs ``pip install gymnasium``.

>>> import gymnasium, corro.envs
>>> env = gymnasium.make("corro/MarketMaking-v0", scenario="config/markets/calm.toml", beside="makers")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`MarketMaking` quotes both sides, `Execution` works a large order, `OptionQuoting` quotes several instruments, such as the
options of a chain. `corro.zoo` has markets with several learners.

The makers also come as vectors, which step many markets at a time in native code, on all processors:

>>> envs = gymnasium.make_vec("corro/MarketMaking-v0", 64, scenario="config/markets/calm.toml", beside="makers")
>>> observations, infos = envs.reset(seed=1)
>>> observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
import numpy.typing as npt

from corro import _corro
from corro._arguments import Duration, count_argument, duration_ns
from corro._maker import ACTION_SHAPE, MAKER_SIZE, MakerRules, int_seed, numbers, rules_of
from corro._market import Market, Scenario, ScenarioLike, scenario
from corro._seat import Seat

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as e:
    raise ImportError("corro.envs needs Gymnasium: pip install gymnasium") from e

Observation = npt.NDArray[np.float32]
Action = npt.NDArray[np.float32]


def _interval(interval: Duration) -> int:
    made = duration_ns("interval", interval)
    if made == 0:
        raise ValueError(f"interval={interval!r}: a step needs time; give a duration above 0")
    return made


def _clipped(value: float) -> float:
    return min(max(value, -1.0), 1.0)


class _OnMarket(gymnasium.Env[Observation, Action]):
    """An episode is a market; one seat of it acts."""

    def __init__(self, source: ScenarioLike, beside: str | None, interval: Duration) -> None:
        self._scenario = scenario(source)
        self._beside = beside
        self._interval = _interval(interval)
        self._duration = int(self._scenario.duration.astype(np.int64))
        self._market: Market | None = None

    @property
    def market(self) -> Market:
        """The market of this episode, for looking at; none before the first reset."""
        if self._market is None:
            raise RuntimeError("call reset first: it makes the market")
        return self._market

    def reset(
        self, *, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins another market. Without a seed, the market's seed comes from the environment's random numbers.

        Parameters
        ----------
        seed
            Of the environment, and so of the markets from here on.
        options
            None are known.
        """
        super().reset(seed=None if seed is None else int_seed(seed))
        market_seed = int(self.np_random.integers(2**63))
        self._market = Market(self._scenario, seed=market_seed, record=(), seats={"maker": self._beside})
        self._pass_time()
        return self._begin(self._market.seat("maker")), {"seed": market_seed}

    def _begin(self, seat: Seat) -> Observation:
        raise NotImplementedError

    def _pass_time(self) -> None:
        market = self.market
        market._native.run(market._native.now_ns() + self._interval)

    def _left(self) -> float:
        return max(0.0, 1 - self.market._native.now_ns() / self._duration)


class _Quoting(_OnMarket):
    """One seat quotes some instruments."""

    def __init__(self, source: ScenarioLike, beside: str | None, interval: Duration) -> None:
        super().__init__(source, beside, interval)
        self._all: list[MakerRules] = []
        self._shape = (0,)
        self._makers: _corro.Makers

    def _quote(self, rules: list[MakerRules]) -> None:
        self._all = rules
        self.observation_space = spaces.Box(-1.0, 1.0, (MAKER_SIZE * len(rules),), np.float32)
        self._shape = (2 * len(rules),)
        self.action_space = spaces.Box(-1.0, 1.0, self._shape, np.float32)

    def _begin(self, seat: Seat) -> Observation:
        self._makers = _corro.Makers(seat._native, seat._index, [each.native for each in self._all], self._interval)
        return self._makers.observe()

    def _info(self) -> dict[str, Any]:
        raise NotImplementedError

    def step(self, action: Action) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Quotes, and lets the interval pass.

        Parameters
        ----------
        action
            For each instrument two numbers from -1 to 1: the distances of bid and ask from the middle.
        """
        if self._market is None:
            raise RuntimeError("call reset first: it makes the market")
        observation, reward, is_over = self._makers.step(numbers(action, self._shape))
        return observation, reward, is_over, False, self._info()


class MarketMaking(_Quoting):
    """Quotes both sides of one instrument, in steps of the market's time.

    At each step the quotes of the step before are cancelled, and new ones are sent at the distances from the middle that
    the action gives. All of that travels the seat's link, among the orders of the scenario's agents.

    Parameters
    ----------
    scenario
        The market: a TOML file, a dictionary or a `corro.Scenario`. Its duration is that of an episode.
    beside
        A group of the scenario, whose link the maker gets; no delay if left out.
    instrument
        May be left out if there is only one.
    interval
        Between two steps.
    lots
        Of each quote, in lots of the instrument.
    distance_ticks
        The largest distance of a quote from the middle.
    position_lots
        The largest position: a side is not quoted if its quote, with the position that has reached the seat, would exceed it.
        What is on its way is not counted, and a quote may trade until its cancel reaches the venue: the position may exceed
        the limit by `lots` for each step that begins within one round trip of the link, so by `lots` at most where `interval`
        is longer than the round trip. A spread's position is held in its legs, and not limited.
    risk_aversion
        Taken from the reward at each step, times the square of the position's part of its limit.

    Observation
    -----------
    Six numbers from -1 to 1: the position's part of its limit; the spread (20 ticks and more are 1); the imbalance of the
    best quantities; the change of the middle since the last step (10 ticks and more are 1); whether the market has both
    sides; the part of the episode that is left.

    Action
    ------
    Two numbers from -1 to 1, for bid and ask: -1 quotes at the middle, 1 at `distance_ticks` from it.

    Reward
    ------
    The change of cash and marked position, less fees, in ticks of one lot; less the aversion to risk.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        beside: str | None = None,
        instrument: str | None = None,
        interval: Duration = "1s",
        lots: int = 1,
        distance_ticks: int = 10,
        position_lots: int = 20,
        risk_aversion: float = 0.1,
    ) -> None:
        super().__init__(scenario, beside, interval)
        self._quote(_one(self._scenario, instrument, lots, distance_ticks, position_lots, risk_aversion))

    def _info(self) -> dict[str, Any]:
        return self._makers.facts(0)


class Execution(_OnMarket):
    """Buys or sells a quantity until the end, in steps of the market's time, as cheaply as it can.

    At each step the open orders are cancelled, and two new ones are sent: one at market, one that rests at the best price of
    its own side. What is left at the end is not traded; it is charged.

    Trades and orders together are never more than `quantity`. An order counts until the seat knows that it has ended, so a
    step sends less, or nothing, while earlier orders may still trade. A link with ``in_order = false`` can show the end of
    an order before its fills; then this does not hold.

    Parameters
    ----------
    scenario
        The market; its duration is that of an episode.
    quantity
        What is to be traded, in lots; negative to sell.
    beside, instrument, interval
        As for `MarketMaking`.
    clip_lots
        The largest quantity of an order.
    penalty_ticks
        For each lot that is left at the end.

    Observation
    -----------
    Six numbers from -1 to 1: the part that is left; the part of the time that is left; the spread (20 ticks and more are 1);
    the imbalance of the best quantities; the cost so far (20 ticks a lot and more are 1); whether the market has both sides.

    Action
    ------
    Two numbers from -1 to 1, for the order at market and the one that rests: -1 is none, 1 is `clip_lots`.

    Reward
    ------
    Less the cost against the middle at the beginning, in ticks of one lot, for what was traded in the step.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        quantity: int = 50,
        beside: str | None = None,
        instrument: str | None = None,
        interval: Duration = "1s",
        clip_lots: int = 10,
        penalty_ticks: float = 20.0,
    ) -> None:
        super().__init__(scenario, beside, interval)
        self._instrument = rules_of(self._scenario, instrument)
        if not isinstance(quantity, int) or quantity == 0:
            raise ValueError(f"quantity={quantity!r}: lots to buy; negative to sell")
        self._sign = 1 if quantity > 0 else -1
        self._wanted = abs(quantity)
        self._clip = count_argument("clip_lots", clip_lots)
        if not penalty_ticks >= 0:
            raise ValueError(f"penalty_ticks={penalty_ticks!r}: 0 or more")
        self._penalty = penalty_ticks
        self.observation_space = spaces.Box(-1.0, 1.0, (6,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, ACTION_SHAPE, np.float32)
        self._seat: Seat

    def _begin(self, seat: Seat) -> Observation:
        self._seat = seat
        self._arrival = float("nan")
        self._cost = 0.0
        self._look()
        return self._observe()

    def step(self, action: Action) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Sends the two orders, and lets the interval pass.

        Parameters
        ----------
        action
            Two numbers from -1 to 1: the sizes of the order at market and of the one that rests.
        """
        market, name, seat = self.market, self._instrument.name, self._seat
        given = numbers(action, ACTION_SHAPE).tolist()
        taking, resting = (round((_clipped(each) + 1) / 2 * self._clip) for each in given)
        seat.cancel_all(name)
        units = self._instrument.lot_size
        if taking or resting:
            # An order may trade until its end is known, even if it was cancelled: only the rest is free for new ones.
            free = max(0, self._left_lots() - int(seat.orders["open"].sum()) // units)
            taking = min(taking, free)
            resting = min(resting, free - taking)
        send = seat.buy if self._sign > 0 else seat.sell
        if taking:
            send(taking * units, instrument=name)
        price = self._quote.bid if self._sign > 0 else self._quote.ask
        if resting and price == price:
            send(resting * units, price, instrument=name)
        before = self._cost
        self._pass_time()
        self._look()
        reward = before - self._cost
        is_done = self._left_lots() == 0
        if market.is_over and not is_done:
            reward -= self._penalty * self._left_lots()
        info = {"left": self._left_lots(), "cost_ticks": self._cost, "arrival": self._arrival}
        return self._observe(), reward, is_done or market.is_over, False, info

    def _left_lots(self) -> int:
        return max(0, self._wanted - self._done)

    def _look(self) -> None:
        """What has reached the seat: the quote, the lots that were traded, and their cost."""
        name, rules = self._instrument.name, self._instrument
        self._quote = self._seat.quote(name)
        if self._arrival != self._arrival:
            self._arrival = self._quote.mid
        # The position of a spread is held in its legs; what was traded is not.
        self._done = int(self._seat.holdings["traded"].sum()) // rules.lot_size
        if self._done:  # the cost is what was paid above the middle at the beginning, in ticks of one lot
            cash = self._seat._native.seat_cash(self._seat._index, name)
            marked = self._sign * self._done * rules.lot_size * self._arrival
            self._cost = -(cash + marked) / (rules.tick_size * rules.lot_size)

    def _observe(self) -> Observation:
        quote, tick = self._quote, self._instrument.tick_size
        has_both = quote.mid == quote.mid
        total = quote.bid_quantity + quote.ask_quantity
        values = (
            self._left_lots() / self._wanted,
            self._left(),
            quote.spread / tick / 20 if has_both else 0.0,
            (quote.bid_quantity - quote.ask_quantity) / total if total else 0.0,
            self._cost / self._done / 20 if self._done else 0.0,
            1.0 if has_both else -1.0,
        )
        return np.array([_clipped(each) for each in values], dtype=np.float32)


class OptionQuoting(_Quoting):
    """Quotes both sides of several instruments from one seat: the options of a chain, or any others.

    Parameters
    ----------
    scenario
        The market; its duration is that of an episode.
    instruments
        Their names; all options of the scenario if left out.
    beside, interval, lots, distance_ticks, position_lots, risk_aversion
        As for `MarketMaking`, for each instrument.

    Observation
    -----------
    For each instrument in turn the six numbers of `MarketMaking`.

    Action
    ------
    For each instrument in turn the two numbers of `MarketMaking`.

    Reward
    ------
    The sum of those of `MarketMaking`.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        instruments: list[str] | None = None,
        beside: str | None = None,
        interval: Duration = "1s",
        lots: int = 1,
        distance_ticks: int = 10,
        position_lots: int = 20,
        risk_aversion: float = 0.1,
    ) -> None:
        super().__init__(scenario, beside, interval)
        self._quote(_several(self._scenario, instruments, lots, distance_ticks, position_lots, risk_aversion))

    def _info(self) -> dict[str, Any]:
        return {each.instrument.name: self._makers.facts(place) for place, each in enumerate(self._all)}


def _one(
    what: Scenario, instrument: str | None, lots: int, distance_ticks: int, position_lots: int, risk_aversion: float
) -> list[MakerRules]:
    return [MakerRules(rules_of(what, instrument), lots, distance_ticks, position_lots, risk_aversion)]


def _several(
    what: Scenario, instruments: list[str] | None, lots: int, distance_ticks: int, position_lots: int, risk_aversion: float
) -> list[MakerRules]:
    if instruments is None:
        instruments = [each.name for each in what.instruments if each.kind == "option"]
    if not instruments or isinstance(instruments, str):
        raise ValueError("instruments: give names; the scenario has no options that could be taken")
    return [MakerRules(rules_of(what, each), lots, distance_ticks, position_lots, risk_aversion) for each in instruments]


class _Vector(VectorEnv[Observation, Action, npt.NDArray[Any]]):
    """Many markets, each with a maker, that step at a time."""

    def __init__(
        self,
        num_envs: SupportsIndex,
        source: Scenario,
        beside: str | None,
        interval: Duration,
        rules: list[MakerRules],
        autoreset_mode: AutoresetMode | str,
        threads: SupportsIndex | None,
    ) -> None:
        self.num_envs = count_argument("num_envs", num_envs)
        self._rules, self._mode = rules, AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space = spaces.Box(-1.0, 1.0, (MAKER_SIZE * len(rules),), np.float32)
        self.single_action_space = spaces.Box(-1.0, 1.0, (2 * len(rules),), np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        workers = len(os.sched_getaffinity(0)) if threads is None else count_argument("threads", threads)
        natives = [each.native for each in rules]
        self._native = _corro.MarketBatch(
            source.text, source.file, beside or "", natives, _interval(interval), self.num_envs, workers
        )
        self._generators = [seeding.np_random(None)[0] for _ in range(self.num_envs)]
        shape = (self.num_envs, len(rules))
        self._observations = np.zeros((self.num_envs, MAKER_SIZE * len(rules)), np.float32)
        self._is_over = np.zeros(self.num_envs, np.uint8)
        self._facts: dict[str, npt.NDArray[Any]] = {
            "position": np.zeros(shape, np.int64), "value_ticks": np.zeros(shape), "middle": np.zeros(shape),
        }  # fmt: skip
        self._still = np.zeros((self.num_envs, 2 * len(rules)))
        self._has_begun = np.zeros(self.num_envs, np.bool_)
        # What most steps need: all markets step, none begins.
        self._all, self._all_step = np.ones(self.num_envs, np.bool_), np.ones(self.num_envs, np.uint8)
        self._no_seeds = np.zeros(self.num_envs, np.uint64)

    def reset(
        self, *, seed: SupportsIndex | Sequence[SupportsIndex | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins other markets.

        Parameters
        ----------
        seed
            One for each environment; or a number, for the first one, and the next numbers for the others.
        options
            ``{"reset_mask": array}``: only these environments.
        """
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (Sequence, np.ndarray)):
            seeds = [None if each is None else int_seed(each) for each in seed]
        else:
            seeds = [int_seed(seed) + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: {len(seeds)} seeds; give one for each of the {self.num_envs} environments, or a number")
        chosen = np.ones(self.num_envs, np.bool_) if options is None else options.get("reset_mask", np.ones(self.num_envs, np.bool_))
        if not isinstance(chosen, np.ndarray) or chosen.dtype != np.bool_ or chosen.shape != (self.num_envs,) or not chosen.any():
            raise ValueError(f'options["reset_mask"]={chosen!r}: give an array of {self.num_envs} flags, of which one at least is set')
        for place in np.flatnonzero(chosen).tolist():
            given = seeds[place]
            if given is not None:
                self._generators[place] = seeding.np_random(given)[0]
        market_seeds = self._seeds(chosen)
        self._advance(np.where(chosen, np.uint8(2), np.uint8(0)), market_seeds, self._still)
        self._has_begun |= chosen
        return self._observations.copy(), {"seed": market_seeds.astype(np.int64), "_seed": chosen.copy()}

    def step(
        self, actions: Action
    ) -> tuple[Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """All quote, and the interval passes in all markets.

        Parameters
        ----------
        actions
            A row for each environment.
        """
        if not self._has_begun.all():
            raise RuntimeError("call reset first: it makes the markets")
        given = np.ascontiguousarray(numbers(actions, self._still.shape, "actions"), dtype=np.float64)
        was_over = self._is_over.view(np.bool_)
        if not was_over.any():
            rewards = self._advance(self._all_step, self._no_seeds, given)
            infos = self._infos(self._all)
        elif self._mode == AutoresetMode.DISABLED:
            raise RuntimeError("an episode is over: reset it with options={'reset_mask': terminations}")
        else:  # an episode that is over begins again in this step
            begins = was_over.copy()
            market_seeds = self._seeds(begins)
            rewards = self._advance(np.where(begins, np.uint8(2), np.uint8(1)), market_seeds, given)
            infos = {"seed": market_seeds.astype(np.int64), "_seed": begins}
            if not begins.all():
                infos |= self._infos(~begins)
        terminations = self._is_over.astype(np.bool_)
        if self._mode == AutoresetMode.SAME_STEP and terminations.any():
            infos = self._begin_at_once(terminations, infos)
        return self._observations.copy(), rewards, terminations, np.zeros(self.num_envs, np.bool_), infos

    def _begin_at_once(self, over: npt.NDArray[np.bool_], infos: dict[str, Any]) -> dict[str, Any]:
        final = np.full(self.num_envs, None, dtype=object)
        for place in np.flatnonzero(over):
            final[place] = self._observations[place].copy()
        ended = self._infos(over)
        market_seeds = self._seeds(over)
        self._advance(np.where(over, np.uint8(2), np.uint8(0)), market_seeds, self._still)
        made: dict[str, Any] = {} if over.all() else self._infos(~over, infos)
        return made | {
            "final_obs": final, "_final_obs": over.copy(), "final_info": ended, "_final_info": over.copy(),
            "seed": market_seeds.astype(np.int64), "_seed": over.copy(),
        }  # fmt: skip

    def _seeds(self, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
        made = np.zeros(self.num_envs, np.uint64)
        for place in np.flatnonzero(chosen):
            made[place] = self._generators[place].integers(2**63)
        return made

    def _advance(
        self, turns: npt.NDArray[np.uint8], seeds: npt.NDArray[np.uint64], actions: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        rewards = np.zeros(self.num_envs)
        facts = self._facts
        self._native.advance(
            turns, seeds, actions, self._observations, rewards, self._is_over, facts["position"], facts["value_ticks"], facts["middle"]
        )
        return rewards

    def _infos(self, which: npt.NDArray[np.bool_], before: dict[str, Any] | None = None) -> dict[str, Any]:
        """What the makers have come to, of some markets; 0 for the others. Those of `before`, if it is given."""
        raise NotImplementedError

    def _infos_of(self, place: int, which: npt.NDArray[np.bool_], before: dict[str, Any] | None) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, values in self._facts.items():
            if which is self._all:
                made[name], made[f"_{name}"] = values[:, place].copy(), which.copy()
                continue
            made[name] = np.where(which, values[:, place] if before is None else before[name], values.dtype.type(0))
            made[f"_{name}"] = which.copy()
        return made


class MarketMakingVector(_Vector):
    """Many `MarketMaking` environments that step at a time, in native code.

    Their observations, rewards and infos are those of as many environments with the same seeds, as `gymnasium.vector.SyncVectorEnv`
    puts them together. ``gymnasium.make_vec("corro/MarketMaking-v0", 64, scenario=...)`` makes one.

    Parameters
    ----------
    num_envs
        How many.
    scenario, beside, instrument, interval, lots, distance_ticks, position_lots, risk_aversion
        As for `MarketMaking`.
    autoreset_mode
        When an episode that is over begins again: with the next step (Gymnasium's default), with the same, or by ``reset``.
    threads
        That run the markets; one for each processor if left out. Results do not depend on it.
    """

    def __init__(
        self,
        num_envs: SupportsIndex = 1,
        *,
        scenario: ScenarioLike,
        beside: str | None = None,
        instrument: str | None = None,
        interval: Duration = "1s",
        lots: int = 1,
        distance_ticks: int = 10,
        position_lots: int = 20,
        risk_aversion: float = 0.1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: SupportsIndex | None = None,
    ) -> None:
        what = _read(scenario)
        rules = _one(what, instrument, lots, distance_ticks, position_lots, risk_aversion)
        super().__init__(num_envs, what, beside, interval, rules, autoreset_mode, threads)

    def _infos(self, which: npt.NDArray[np.bool_], before: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._infos_of(0, which, before)


class OptionQuotingVector(_Vector):
    """Many `OptionQuoting` environments that step at a time, in native code; see `MarketMakingVector`.

    Parameters
    ----------
    num_envs, autoreset_mode, threads
        As for `MarketMakingVector`.
    scenario, instruments, beside, interval, lots, distance_ticks, position_lots, risk_aversion
        As for `OptionQuoting`.
    """

    def __init__(
        self,
        num_envs: SupportsIndex = 1,
        *,
        scenario: ScenarioLike,
        instruments: list[str] | None = None,
        beside: str | None = None,
        interval: Duration = "1s",
        lots: int = 1,
        distance_ticks: int = 10,
        position_lots: int = 20,
        risk_aversion: float = 0.1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: SupportsIndex | None = None,
    ) -> None:
        what = _read(scenario)
        rules = _several(what, instruments, lots, distance_ticks, position_lots, risk_aversion)
        super().__init__(num_envs, what, beside, interval, rules, autoreset_mode, threads)

    def _infos(self, which: npt.NDArray[np.bool_], before: dict[str, Any] | None = None) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for place, each in enumerate(self._rules):
            name = each.instrument.name
            made[name] = self._infos_of(place, which, None if before is None else before[name])
            made[f"_{name}"] = which.copy()
        return made


def _read(source: ScenarioLike) -> Scenario:
    return scenario(source)


gymnasium.register(
    id="corro/MarketMaking-v0", entry_point="corro.envs:MarketMaking", vector_entry_point="corro.envs:MarketMakingVector"
)
gymnasium.register(id="corro/Execution-v0", entry_point="corro.envs:Execution")
gymnasium.register(
    id="corro/OptionQuoting-v0", entry_point="corro.envs:OptionQuoting", vector_entry_point="corro.envs:OptionQuotingVector"
)
