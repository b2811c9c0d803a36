# SPDX-License-Identifier: Apache-2.0
"""Markets with several learners, as environments of PettingZoo. Needs ``pip install pettingzoo``.

>>> import corro.zoo
>>> env = corro.zoo.parallel_env("config/markets/calm.toml", makers=3, beside="makers")
>>> observations, infos = env.reset(seed=1)
>>> actions = {name: env.action_space(name).sample() for name in env.agents}
>>> observations, rewards, terminations, truncations, infos = env.step(actions)

Each learner is a maker as in `corro.envs.MarketMaking`, with a seat of its own on the same market. In `parallel_env` all of
them act, and an interval passes. In `env` each wakes at times of its own, looks, and acts at once; learners that wake at the
same moment act in the order of their names. With one interval for all, that is the same market as `parallel_env`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from corro._arguments import Duration, count_argument, duration_ns
from corro._maker import ACTION_SHAPE, MAKER_SIZE, Maker, MakerRules, int_seed, numbers, rules_of
from corro._market import Market, ScenarioLike, scenario

try:
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from pettingzoo.utils import wrappers  # type: ignore[import-untyped, import-not-found, unused-ignore]
except ImportError as e:
    raise ImportError("corro.zoo needs PettingZoo: pip install pettingzoo") from e

Observation = npt.NDArray[np.float32]
Action = npt.NDArray[np.float32]


class _Makers:
    """Makers on one market; an episode is a market."""

    def __init__(
        self,
        source: ScenarioLike,
        makers: int,
        beside: str | None,
        instrument: str | None,
        interval: Duration | Sequence[Duration],
        lots: int,
        distance_ticks: int,
        position_lots: int,
        risk_aversion: float,
    ) -> None:
        self._scenario = scenario(source)
        self._beside = beside
        self._rules = MakerRules(
            rules_of(self._scenario, instrument), lots, distance_ticks, position_lots, risk_aversion
        )
        self.names = [f"maker_{i}" for i in range(count_argument("makers", makers))]
        self.intervals = _intervals(interval, self.names)
        self._duration = int(self._scenario.duration.astype(np.int64))
        self._random = seeding.np_random(None)[0]
        self.market: Market | None = None
        self.makers: dict[str, Maker] = {}
        self.observation_space = spaces.Box(-1.0, 1.0, (MAKER_SIZE,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, ACTION_SHAPE, np.float32)

    def begin(self, seed: SupportsIndex | None) -> int:
        if seed is not None:
            self._random = seeding.np_random(int_seed(seed))[0]
        market_seed = int(self._random.integers(2**63))
        self.market = Market(
            self._scenario, seed=market_seed, record=(), seats=dict.fromkeys(self.names, self._beside)
        )
        self.run_to(min(self.intervals.values()))
        self.makers = {name: Maker(self.market.seat(name), self._rules) for name in self.names}
        return market_seed

    def run_to(self, time: int) -> bool:
        """Whether the episode is over."""
        _market_of(self)._native.run(time)
        return time >= self._duration

    def pass_time(self) -> bool:
        """Lets the one interval pass."""
        return self.run_to(_market_of(self)._native.now_ns() + self.intervals[self.names[0]])

    def observe(self, name: str) -> Observation:
        return self.makers[name].observe()


def _intervals(interval: Duration | Sequence[Duration], names: list[str]) -> dict[str, int]:
    each: list[Any] = list(interval) if isinstance(interval, (list, tuple)) else [interval] * len(names)
    if len(each) != len(names):
        raise ValueError(f"interval: {len(each)} durations; give one for each of the {len(names)} makers, or one for all")
    made = {name: duration_ns("interval", given) for name, given in zip(names, each, strict=True)}
    if not all(made.values()):
        raise ValueError(f"interval={interval!r}: a step needs time; give a duration above 0")
    return made


class MakersParallel(ParallelEnv[str, Observation, Action]):  # type: ignore[misc, unused-ignore]
    """Made by `parallel_env`."""

    metadata = {"render_modes": [], "name": "corro_makers_v0", "is_parallelizable": True}

    def __init__(self, all_of_them: _Makers) -> None:
        self._all = all_of_them
        self.possible_agents = list(all_of_them.names)
        self.agents: list[str] = []
        self.render_mode = None

    def observation_space(self, agent: str) -> Any:
        """Six numbers from -1 to 1."""
        return self._all.observation_space

    def action_space(self, agent: str) -> Any:
        """Two numbers from -1 to 1."""
        return self._all.action_space

    @property
    def market(self) -> Market:
        """The market of this episode, for looking at."""
        return _market_of(self._all)

    def reset(
        self, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begins another market."""
        market_seed = self._all.begin(seed)
        self.agents = list(self.possible_agents)
        return {name: self._all.observe(name) for name in self.agents}, {name: {"seed": market_seed} for name in self.agents}

    def step(self, actions: dict[str, Action]) -> tuple[
        dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:  # fmt: skip
        """All act, and the interval passes.

        Parameters
        ----------
        actions
            For each of ``agents`` two numbers from -1 to 1, as for `corro.envs.MarketMaking`.
        """
        _market_of(self._all)
        acting = self.agents
        if missing := [name for name in acting if name not in actions]:
            raise ValueError(f"actions: there is none for {', '.join(missing)}; give one for each of agents: {', '.join(acting)}")
        given = [numbers(actions[name], ACTION_SHAPE, f"action of {name}") for name in acting]
        for name, action in zip(acting, given, strict=True):
            self._all.makers[name].act(action)
        is_over = self._all.pass_time()
        rewards = {name: self._all.makers[name].reward() for name in acting}
        observations = {name: self._all.observe(name) for name in acting}
        infos = {name: self._all.makers[name].info for name in acting}
        if is_over:
            self.agents = []
        return observations, rewards, dict.fromkeys(acting, is_over), dict.fromkeys(acting, False), infos

    def render(self) -> None:
        """Nothing is drawn; `market` has what there is to see."""

    def close(self) -> None:
        """Lets the market go."""
        self._all.market = None


class MakersInTurn(AECEnv[str, Observation, Action]):  # type: ignore[misc, unused-ignore]
    """Made by `env`."""

    metadata = {"render_modes": [], "name": "corro_makers_v0", "is_parallelizable": True}

    def __init__(self, all_of_them: _Makers) -> None:
        super().__init__()
        self._all = all_of_them
        self.possible_agents = list(all_of_them.names)
        self.agents: list[str] = []
        self.render_mode = None

    def observation_space(self, agent: str) -> Any:
        """Six numbers from -1 to 1."""
        return self._all.observation_space

    def action_space(self, agent: str) -> Any:
        """Two numbers from -1 to 1."""
        return self._all.action_space

    @property
    def market(self) -> Market:
        """The market of this episode, for looking at."""
        return _market_of(self._all)

    def observe(self, agent: str) -> Observation:
        """What an agent sees at this moment."""
        return self._all.observe(agent)

    def reset(self, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins another market."""
        market_seed = self._all.begin(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {name: {"seed": market_seed} for name in self.agents}
        self._wakes = dict(self._all.intervals)
        self.agent_selection = self._next()

    def step(self, action: Action | None) -> None:
        """The selected agent acts; then the market runs to the moment at which the next one wakes.

        Parameters
        ----------
        action
            Two numbers from -1 to 1, as for `corro.envs.MarketMaking`; None for an agent whose episode is over.
        """
        _market_of(self._all)
        name = self.agent_selection
        if self.terminations[name] or self.truncations[name]:
            self._was_dead_step(action)
            return
        given = numbers(action, ACTION_SHAPE, f"action of {name}")
        self._cumulative_rewards[name] = 0.0
        self._all.makers[name].act(given)
        self._clear_rewards()
        now = self._wakes[name]
        self._wakes[name] = now + self._all.intervals[name]
        chosen = self._next()
        if self._wakes[chosen] > now:
            self._pass_time(self._wakes[chosen])
        self.agent_selection = chosen
        self._accumulate_rewards()

    def _next(self) -> str:
        return min(self.agents, key=lambda each: self._wakes[each])  # the first of those that wake together

    def _pass_time(self, until: int) -> None:
        is_over = self._all.run_to(until)
        for each in self.agents:
            if is_over or self._wakes[each] == until:
                self.rewards[each] = self._all.makers[each].reward()
                self.infos[each] = self._all.makers[each].info
            self.terminations[each] = is_over

    def render(self) -> None:
        """Nothing is drawn; `market` has what there is to see."""

    def close(self) -> None:
        """Lets the market go."""
        self._all.market = None


def parallel_env(
    scenario: ScenarioLike,
    *,
    makers: int = 2,
    beside: str | None = None,
    instrument: str | None = None,
    interval: Duration = "1s",
    lots: int = 1,
    distance_ticks: int = 10,
    position_lots: int = 20,
    risk_aversion: float = 0.1,
) -> MakersParallel:
    """Makers that act at the same time.

    Parameters
    ----------
    scenario
        The market; its duration is that of an episode.
    makers
        How many learners.
    beside, instrument, interval, lots, distance_ticks, position_lots, risk_aversion
        As for `corro.envs.MarketMaking`, for each of them.
    """
    return MakersParallel(
        _Makers(scenario, makers, beside, instrument, interval, lots, distance_ticks, position_lots, risk_aversion)
    )


def raw_env(
    scenario: ScenarioLike,
    *,
    makers: int = 2,
    beside: str | None = None,
    instrument: str | None = None,
    interval: Duration | Sequence[Duration] = "1s",
    lots: int = 1,
    distance_ticks: int = 10,
    position_lots: int = 20,
    risk_aversion: float = 0.1,
) -> MakersInTurn:
    """`env` without the checks of PettingZoo."""
    return MakersInTurn(
        _Makers(scenario, makers, beside, instrument, interval, lots, distance_ticks, position_lots, risk_aversion)
    )


def env(scenario: ScenarioLike, **options: Any) -> Any:
    """Makers that act one after the other, each when it wakes.

    Parameters
    ----------
    scenario
        The market; its duration is that of an episode.
    options
        As for `parallel_env`. ``interval`` may also be a list with one for each maker: ``["1s", "250ms"]``.
    """
    return wrappers.OrderEnforcingWrapper(wrappers.ClipOutOfBoundsWrapper(raw_env(scenario, **options)))


def _market_of(all_of_them: _Makers) -> Market:
    if all_of_them.market is None:
        raise RuntimeError("call reset first: it makes the market")
    return all_of_them.market
