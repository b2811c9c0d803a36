# SPDX-License-Identifier: Apache-2.0
"""A maker that a learner steers: what environments of one and of several learners share."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from corro import _corro
from corro._arguments import count_argument
from corro._journal import Instrument
from corro._market import Scenario
from corro._seat import Seat

MAKER_SIZE = 6
"""Numbers of an observation."""

ACTION_SHAPE = (2,)
"""Of an action: two numbers."""

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))  # what the native part takes


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

    @property
    def native(self) -> tuple[str, int, int, int, float]:
        """As the native part takes them."""
        return (self.instrument.name, self.lots, self.distance_ticks, self.position_lots, float(self.risk_aversion))


def numbers(action: Any, shape: tuple[int, ...], argument: str = "action") -> npt.NDArray[Any]:
    """An action as an array of finite numbers.

    Parameters
    ----------
    action
        An array, or lists.
    shape
        That it must have.
    argument
        Its name, for messages.
    """
    try:
        given = np.asarray(action)
    except (TypeError, ValueError):  # lists of several lengths
        given = np.empty(0, object)
    if given.dtype.kind in "fiub" and given.shape == shape:
        # NumPy's call takes longer than a step's few numbers need.
        if all(map(math.isfinite, given.tolist())) if given.ndim == 1 else np.isfinite(given).all():
            return given if given.dtype in _FLOATS else given.astype(np.float64)
    raise ValueError(
        f"{argument}={action!r:.100}: give finite numbers from -1 to 1, as an array of the shape {shape} and the type float32 or float64"
    )


def int_seed(seed: Any) -> int:
    """A seed as Gymnasium takes it: an int, not one of NumPy's."""
    try:
        return operator.index(seed)
    except TypeError:
        raise TypeError(f"seed={seed!r}: a seed is an int") from None


class Maker:
    """The quotes of a seat in one instrument: `act`, let time pass, `reward`, `observe`."""

    def __init__(self, seat: Seat, rules: MakerRules) -> None:
        self._native = _corro.Makers(seat._native, seat._index, [rules.native], 1)

    def act(self, action: npt.NDArray[Any]) -> None:
        """Replaces the quotes.

        Parameters
        ----------
        action
            Two numbers, as `numbers` returns them.
        """
        self._native.act(action)

    def reward(self) -> float:
        """Looks again; the change of the value since the last look, less the aversion to risk."""
        return self._native.reward()

    def observe(self) -> npt.NDArray[np.float32]:
        """What it saw at the last look, as `corro.envs.MarketMaking` describes it."""
        return self._native.observe()

    @property
    def info(self) -> dict[str, Any]:
        """What it has come to: position, value_ticks, middle."""
        return self._native.facts(0)
