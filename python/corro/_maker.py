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
from corro._seat import Seat

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
        self._native, self._index = self.seat._native, self.seat._index
        self._name, self._tick = self.rules.instrument.name, self.rules.instrument.tick_size
        self._lot = self.rules.instrument.lot_size
        self._look()
        self._middle = self._mid
        self._change = 0.0
        self._value = 0.0

    def act(self, action: npt.NDArray[Any]) -> None:
        """Replaces the quotes."""
        rules, most = self.rules, self.rules.distance_ticks
        self._native.cancel_all(self._index, self._name)
        if math.isnan(self._middle):
            return
        position = self._position()
        middle = self._middle / self._tick
        # Outwards, so that quotes of distance 0 do not cross each other.
        bid = math.floor(middle - (_clipped(float(action[0])) + 1) / 2 * most)
        ask = math.ceil(middle + (_clipped(float(action[1])) + 1) / 2 * most)
        if bid == ask:
            bid -= 1
        units = rules.lots * self._lot
        if position + rules.lots <= rules.position_lots:
            self._send(True, units, bid)
        if position - rules.lots >= -rules.position_lots:
            self._send(False, units, ask)

    def reward(self) -> float:
        """Looks again; the change of the value since the last look, less the aversion to risk."""
        self._look()
        position = self._position()
        middle = self._mid
        self._change = 0.0 if math.isnan(middle) or math.isnan(self._middle) else (middle - self._middle) / self._tick
        before, self._value = self._value, self._value_of(position)
        if not math.isnan(middle):
            self._middle = middle
        part = position / self.rules.position_lots
        self.info = {"position": position, "value_ticks": self._value, "middle": middle}
        return self._value - before - self.rules.risk_aversion * part * part

    def observe(self, left: float) -> npt.NDArray[np.float32]:
        """What it sees, as `corro.envs.MarketMaking` describes it."""
        _, bid, ask, bid_quantity, ask_quantity, _, _ = self._seen
        has_both = not math.isnan(self._mid)
        total = bid_quantity + ask_quantity
        values = (
            _clipped(self._position() / self.rules.position_lots),
            _clipped((ask - bid) / self._tick / _SPREAD_TICKS) if has_both else 0.0,
            (bid_quantity - ask_quantity) / total if total else 0.0,
            _clipped(self._change / _MOVE_TICKS),
            1.0 if has_both else -1.0,
            left,
        )
        return np.array(values, dtype=np.float32)

    def _look(self) -> None:
        self._seen = self._native.seat_quote(self._index, self._name)
        self._mid = (self._seen[1] + self._seen[2]) / 2

    def _position(self) -> int:
        """In lots."""
        return self._native.seat_position(self._index, self._name) // self._lot

    def _value_of(self, position: int) -> float:
        """Cash and marked position, in ticks of one lot."""
        price = self._mid if not math.isnan(self._mid) else self._middle
        marked = 0.0 if position == 0 or math.isnan(price) else position * price / self._tick
        return self._native.seat_cash(self._index, self._name) / (self._tick * self._lot) + marked

    def _send(self, is_buy: bool, units: int, ticks: int) -> None:
        limit = round(ticks * self._tick * 1e9)
        try:
            self._native.enter(self._index, is_buy, self._name, True, limit, units, "day", False, 0)
        except ValueError:
            # Beyond the prices that the instrument accepts: no quote there.
            pass


def _clipped(value: float) -> float:
    return max(-1.0, min(1.0, value))
