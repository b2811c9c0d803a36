"""A maker that a learner steers: what environments of one and of several learners share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from corro._arguments import count_argument
from corro._journal import Instrument
from corro._market import Scenario
from corro._seat import Quote, Seat

MAKER_SIZE = 6
"""Numbers of an observation."""

_SPREAD_TICKS = 20.0  # what the observation shows as 1
_MOVE_TICKS = 10.0


def rules_of(scenario: Scenario, instrument: str | None) -> Instrument:
    """An instrument of the scenario; the only one for None."""
    names = [each.name for each in scenario.instruments]
    if instrument is None and len(names) != 1:
        raise ValueError(f"the scenario has several instruments; give one as instrument=, of: {', '.join(names)}")
    if instrument is not None and instrument not in names:
        raise ValueError(f'no instrument "{instrument}"; the scenario has: {", ".join(names)}')
    return next(each for each in scenario.instruments if instrument in (None, each.name))


@dataclass(frozen=True)
class MakerRules:
    """What a maker may do, as `corro.envs.MarketMaking` describes it."""

    instrument: Instrument
    lots: int
    distance_ticks: int
    position_lots: int
    risk_aversion: float

    def __post_init__(self) -> None:
        for name in ("lots", "distance_ticks", "position_lots"):
            object.__setattr__(self, name, count_argument(name, getattr(self, name)))
        if not self.risk_aversion >= 0:
            raise ValueError(f"risk_aversion={self.risk_aversion!r}: 0 or more")


@dataclass
class Maker:
    """The quotes of a seat in one instrument: `act`, let time pass, `reward`, `observe`."""

    seat: Seat
    rules: MakerRules
    info: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._quote = self._see()
        self._middle = self._quote.mid
        self._change = 0.0
        self._value = 0.0

    def act(self, action: npt.ArrayLike) -> None:
        """Replaces the quotes."""
        rules, name = self.rules, self.rules.instrument.name
        distances = (np.clip(np.asarray(action, dtype=np.float64), -1, 1) + 1) / 2 * rules.distance_ticks
        self.seat.cancel_all(name)
        if math.isnan(self._middle):
            return
        position = self._position()
        middle = self._middle / rules.instrument.tick_size
        # Outwards, so that quotes of distance 0 do not cross each other.
        bid = math.floor(middle - float(distances[0]))
        ask = math.ceil(middle + float(distances[1]))
        if bid == ask:
            bid -= 1
        units = rules.lots * rules.instrument.lot_size
        if position + rules.lots <= rules.position_lots:
            self._send(True, units, bid)
        if position - rules.lots >= -rules.position_lots:
            self._send(False, units, ask)

    def reward(self) -> float:
        """Looks again; the change of the value since the last look, less the aversion to risk."""
        self._quote = self._see()
        tick = self.rules.instrument.tick_size
        position = self._position()
        middle = self._quote.mid
        self._change = 0.0 if math.isnan(middle) or math.isnan(self._middle) else (middle - self._middle) / tick
        before, self._value = self._value, self._value_of(position)
        if not math.isnan(middle):
            self._middle = middle
        part = position / self.rules.position_lots
        self.info = {"position": position, "value_ticks": self._value, "middle": middle}
        return self._value - before - self.rules.risk_aversion * part * part

    def observe(self, left: float) -> npt.NDArray[np.float32]:
        """What it sees, as `corro.envs.MarketMaking` describes it."""
        quote, tick = self._quote, self.rules.instrument.tick_size
        has_both = not math.isnan(quote.mid)
        total = quote.bid_quantity + quote.ask_quantity
        values = (
            self._position() / self.rules.position_lots,
            quote.spread / tick / _SPREAD_TICKS if has_both else 0.0,
            (quote.bid_quantity - quote.ask_quantity) / total if total else 0.0,
            self._change / _MOVE_TICKS,
            1.0 if has_both else -1.0,
            left,
        )
        return np.clip(np.array(values, dtype=np.float32), -1, 1)

    def _see(self) -> Quote:
        return self.seat.quote(self.rules.instrument.name)

    def _position(self) -> int:
        """In lots."""
        return self.seat.position(self.rules.instrument.name) // self.rules.instrument.lot_size

    def _value_of(self, position: int) -> float:
        """Cash and marked position, in ticks of one lot."""
        rules = self.rules.instrument
        price = self._quote.mid if not math.isnan(self._quote.mid) else self._middle
        marked = 0.0 if position == 0 or math.isnan(price) else position * price / rules.tick_size
        cash = self.seat._native.seat_cash(self.seat._index, rules.name)
        return cash / (rules.tick_size * rules.lot_size) + marked

    def _send(self, is_buy: bool, units: int, ticks: int) -> None:
        price = round(ticks * self.rules.instrument.tick_size, 9)
        try:
            if is_buy:
                self.seat.buy(units, price, instrument=self.rules.instrument.name)
            else:
                self.seat.sell(units, price, instrument=self.rules.instrument.name)
        except ValueError:
            # Beyond the prices that the instrument accepts: no quote there.
            pass
