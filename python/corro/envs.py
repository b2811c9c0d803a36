"""Environments of Gymnasium on simulated markets. Needs ``pip install gymnasium``.

>>> import gymnasium, corro.envs
>>> env = gymnasium.make("corro/MarketMaking-v0", scenario="config/markets/calm.toml", beside="makers")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`MarketMaking` quotes both sides, `Execution` works a large order, `OptionQuoting` quotes several instruments, such as the
options of a chain. `corro.zoo` has markets with several learners.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from corro._arguments import Duration, count_argument, duration_ns
from corro._maker import MAKER_SIZE, Maker, MakerRules, rules_of
from corro._market import Market, ScenarioLike, scenario
from corro._seat import Seat

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as e:
    raise ImportError("corro.envs needs Gymnasium: pip install gymnasium") from e

Observation = npt.NDArray[np.float32]
Action = npt.NDArray[np.float32]


class _OnMarket(gymnasium.Env[Observation, Action]):
    """An episode is a market; one seat of it acts."""

    def __init__(self, source: ScenarioLike, beside: str | None, interval: Duration) -> None:
        self._scenario = scenario(source)
        self._beside = beside
        self._interval = duration_ns("interval", interval)
        if self._interval == 0:
            raise ValueError(f"interval={interval!r}: a step needs time; give a duration above 0")
        self._duration = int(self._scenario.duration.astype(np.int64))
        self._market: Market | None = None

    @property
    def market(self) -> Market:
        """The market of this episode, for looking at; none before the first reset."""
        if self._market is None:
            raise RuntimeError("call reset first: it makes the market")
        return self._market

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins another market. Without a seed, the market's seed comes from the environment's random numbers.

        Parameters
        ----------
        seed
            Of the environment, and so of the markets from here on.
        options
            None are known.
        """
        super().reset(seed=seed)
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


class MarketMaking(_OnMarket):
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
        The largest position: a side that could exceed it is not quoted.
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
        self._rules = MakerRules(
            rules_of(self._scenario, instrument), lots, distance_ticks, position_lots, risk_aversion
        )
        self.observation_space = spaces.Box(-1.0, 1.0, (MAKER_SIZE,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._maker: Maker

    def _begin(self, seat: Seat) -> Observation:
        self._maker = Maker(seat, self._rules)
        return self._maker.observe(self._left())

    def step(self, action: Action) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Quotes, and lets the interval pass.

        Parameters
        ----------
        action
            Two numbers from -1 to 1: the distances of bid and ask from the middle.
        """
        market = self.market
        self._maker.act(action)
        self._pass_time()
        reward = self._maker.reward()
        return self._maker.observe(self._left()), reward, market.is_over, False, self._maker.info


class Execution(_OnMarket):
    """Buys or sells a quantity until the end, in steps of the market's time, as cheaply as it can.

    At each step the open orders are cancelled, and two new ones are sent: one at market, one that rests at the best price of
    its own side. What is left at the end is not traded; it is charged.

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
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._seat: Seat

    def _begin(self, seat: Seat) -> Observation:
        self._seat = seat
        self._arrival = float("nan")
        self._cost = 0.0
        self._quote = seat.quote(self._instrument.name)
        self._note_arrival()
        return self._observe()

    def step(self, action: Action) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Sends the two orders, and lets the interval pass.

        Parameters
        ----------
        action
            Two numbers from -1 to 1: the sizes of the order at market and of the one that rests.
        """
        market, name, seat = self.market, self._instrument.name, self._seat
        sizes = np.rint((np.clip(np.asarray(action, dtype=np.float64), -1, 1) + 1) / 2 * self._clip).astype(int)
        seat.cancel_all(name)
        # What was sent before may still trade: both orders together stay within what is left.
        left = self._left_lots()
        taking = min(int(sizes[0]), left)
        resting = min(int(sizes[1]), left - taking)
        units = self._instrument.lot_size
        send = seat.buy if self._sign > 0 else seat.sell
        if taking:
            send(taking * units, instrument=name)
        price = self._quote.bid if self._sign > 0 else self._quote.ask
        if resting and price == price:
            send(resting * units, price, instrument=name)
        before = self._cost
        self._pass_time()
        self._quote = seat.quote(name)
        self._note_arrival()
        self._cost = self._cost_now()
        reward = before - self._cost
        is_done = self._left_lots() == 0
        if market.is_over and not is_done:
            reward -= self._penalty * self._left_lots()
        info = {"left": self._left_lots(), "cost_ticks": self._cost, "arrival": self._arrival}
        return self._observe(), reward, is_done or market.is_over, False, info

    def _note_arrival(self) -> None:
        if self._arrival != self._arrival:
            self._arrival = self._quote.mid

    def _done_lots(self) -> int:
        return self._sign * self._seat.position(self._instrument.name) // self._instrument.lot_size

    def _left_lots(self) -> int:
        return max(0, self._wanted - self._done_lots())

    def _cost_now(self) -> float:
        """What was paid above the middle at the beginning, in ticks of one lot."""
        name, rules = self._instrument.name, self._instrument
        cash = self._seat._native.seat_cash(self._seat._index, name)
        if cash == 0 and self._done_lots() == 0:
            return 0.0
        marked = self._seat.position(name) * self._arrival
        return -(cash + marked) / (rules.tick_size * rules.lot_size)

    def _observe(self) -> Observation:
        quote, tick = self._quote, self._instrument.tick_size
        has_both = quote.mid == quote.mid
        total = quote.bid_quantity + quote.ask_quantity
        done = self._done_lots()
        values = (
            self._left_lots() / self._wanted,
            self._left(),
            quote.spread / tick / 20 if has_both else 0.0,
            (quote.bid_quantity - quote.ask_quantity) / total if total else 0.0,
            self._cost / done / 20 if done > 0 else 0.0,
            1.0 if has_both else -1.0,
        )
        return np.clip(np.array(values, dtype=np.float32), -1, 1)


class OptionQuoting(_OnMarket):
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
        if instruments is None:
            instruments = [each.name for each in self._scenario.instruments if each.kind == "option"]
        if not instruments or isinstance(instruments, str):
            raise ValueError("instruments: give names; the scenario has no options that could be taken")
        self._all = [
            MakerRules(rules_of(self._scenario, each), lots, distance_ticks, position_lots, risk_aversion)
            for each in instruments
        ]
        count = len(self._all)
        self.observation_space = spaces.Box(-1.0, 1.0, (MAKER_SIZE * count,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (2 * count,), np.float32)
        self._makers: list[Maker] = []

    def _begin(self, seat: Seat) -> Observation:
        self._makers = [Maker(seat, each) for each in self._all]
        return self._observe()

    def step(self, action: Action) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Quotes all instruments, and lets the interval pass.

        Parameters
        ----------
        action
            For each instrument two numbers from -1 to 1.
        """
        pairs = np.asarray(action).reshape(-1, 2)
        for maker, pair in zip(self._makers, pairs, strict=True):
            maker.act(pair)
        self._pass_time()
        reward = sum(each.reward() for each in self._makers)
        info = {each.rules.instrument.name: each.info for each in self._makers}
        return self._observe(), reward, self.market.is_over, False, info

    def _observe(self) -> Observation:
        left = self._left()
        return np.concatenate([each.observe(left) for each in self._makers])


gymnasium.register(id="corro/MarketMaking-v0", entry_point="corro.envs:MarketMaking")
gymnasium.register(id="corro/Execution-v0", entry_point="corro.envs:Execution")
gymnasium.register(id="corro/OptionQuoting-v0", entry_point="corro.envs:OptionQuoting")
