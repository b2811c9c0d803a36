"""Environments of Gymnasium on simulated markets. Needs ``pip install gymnasium``.

>>> import gymnasium, corro.envs
>>> env = gymnasium.make("corro/MarketMaking-v0", scenario="config/markets/calm.toml", beside="makers")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from __future__ import annotations

import math
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from corro._arguments import Duration, count_argument, duration_ns
from corro._market import Market, Scenario, ScenarioLike, scenario
from corro._seat import Quote, Seat

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as e:
    raise ImportError("corro.envs needs Gymnasium: pip install gymnasium") from e

Observation = npt.NDArray[np.float32]
Action = npt.NDArray[np.float32]

_SPREAD_TICKS = 20.0  # what the observation shows as 1
_MOVE_TICKS = 10.0


class MarketMaking(gymnasium.Env[Observation, Action]):
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
        self._scenario = _scenario(scenario)
        names = [each.name for each in self._scenario.instruments]
        if instrument is None and len(names) != 1:
            raise ValueError(f"the scenario has several instruments; give one as instrument=, of: {', '.join(names)}")
        if instrument is not None and instrument not in names:
            raise ValueError(f'no instrument "{instrument}"; the scenario has: {", ".join(names)}')
        self._rules = next(each for each in self._scenario.instruments if instrument in (None, each.name))
        self._beside = beside
        self._interval = duration_ns("interval", interval)
        if self._interval == 0:
            raise ValueError(f"interval={interval!r}: a step needs time; give a duration above 0")
        self._lots = count_argument("lots", lots)
        self._distance = count_argument("distance_ticks", distance_ticks)
        self._limit = count_argument("position_lots", position_lots)
        if not risk_aversion >= 0:
            raise ValueError(f"risk_aversion={risk_aversion!r}: 0 or more")
        self._risk_aversion = risk_aversion
        self._duration = int(self._scenario.duration.astype(np.int64))
        self.observation_space = spaces.Box(-1.0, 1.0, (6,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._market: Market | None = None
        self._me: Seat
        self._value = 0.0
        self._middle = math.nan

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
        self._me = self._market.seat("maker")
        self._market.step(self._interval / 1e9)
        quote = self._quote()
        self._middle = quote.mid
        self._value = 0.0
        return self._observe(quote, 0.0), {"seed": market_seed}

    def step(self, action: Action) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Quotes, and lets the interval pass.

        Parameters
        ----------
        action
            Two numbers from -1 to 1: the distances of bid and ask from the middle.
        """
        market = self.market
        distances = (np.clip(np.asarray(action, dtype=np.float64), -1, 1) + 1) / 2 * self._distance
        self._me.cancel_all(self._rules.name)
        self._send_quotes(float(distances[0]), float(distances[1]))
        market.step(self._interval / 1e9)
        quote = self._quote()
        position = self._position()
        before, self._value = self._value, self._value_of(quote, position)
        part = position / self._limit
        reward = self._value - before - self._risk_aversion * part * part
        change = 0.0 if math.isnan(quote.mid) or math.isnan(self._middle) else (quote.mid - self._middle) / self._tick
        if not math.isnan(quote.mid):
            self._middle = quote.mid
        info = {"position": position, "value_ticks": self._value, "middle": quote.mid}
        return self._observe(quote, change), reward, market.is_over, False, info

    @property
    def _tick(self) -> float:
        return self._rules.tick_size

    def _quote(self) -> Quote:
        return self._me.quote(self._rules.name)

    def _position(self) -> int:
        """In lots."""
        return self._me.position(self._rules.name) // self._rules.lot_size

    def _value_of(self, quote: Quote, position: int) -> float:
        """Cash and marked position, in ticks of one lot."""
        price = quote.mid if not math.isnan(quote.mid) else self._middle
        marked = 0.0 if position == 0 or math.isnan(price) else position * price / self._tick
        cash = self._me._native.seat_cash(self._me._index, self._rules.name)
        return cash / (self._tick * self._rules.lot_size) + marked

    def _send_quotes(self, bid_ticks: float, ask_ticks: float) -> None:
        if math.isnan(self._middle):
            return
        position = self._position()
        middle = self._middle / self._tick
        # Outwards, so that quotes of distance 0 do not cross each other.
        bid = math.floor(middle - bid_ticks)
        ask = math.ceil(middle + ask_ticks)
        if bid == ask:
            bid -= 1
        units = self._lots * self._rules.lot_size
        if position + self._lots <= self._limit:
            self._send(True, units, bid)
        if position - self._lots >= -self._limit:
            self._send(False, units, ask)

    def _send(self, is_buy: bool, units: int, ticks: int) -> None:
        price = round(ticks * self._tick, 9)
        try:
            if is_buy:
                self._me.buy(units, price, instrument=self._rules.name)
            else:
                self._me.sell(units, price, instrument=self._rules.name)
        except ValueError:
            # Beyond the prices that the instrument accepts: no quote there.
            pass

    def _observe(self, quote: Quote, change_ticks: float) -> Observation:
        has_both = not math.isnan(quote.mid)
        total = quote.bid_quantity + quote.ask_quantity
        left = 1 - int(self.market.elapsed.astype(np.int64)) / self._duration
        return np.clip(
            np.array(
                [
                    self._position() / self._limit,
                    quote.spread / self._tick / _SPREAD_TICKS if has_both else 0,
                    (quote.bid_quantity - quote.ask_quantity) / total if total else 0,
                    change_ticks / _MOVE_TICKS,
                    1 if has_both else -1,
                    left,
                ],
                dtype=np.float32,
            ),
            -1,
            1,
        )


def _scenario(source: ScenarioLike) -> Scenario:
    return scenario(source)


gymnasium.register(id="corro/MarketMaking-v0", entry_point="corro.envs:MarketMaking")
