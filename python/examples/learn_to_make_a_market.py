#!/usr/bin/env python3
"""Trains PPO of Stable-Baselines3 to make a market, and compares it with fixed quotes on seeds that it has not seen.

usage: python python/examples/learn_to_make_a_market.py [--steps N] [--envs COUNT] [--scenario FILE]

Needs the package and the learner: `pip install . stable-baselines3 gymnasium`. The environment is `corro/MarketMaking-v0` as a
vector, which runs the markets in native code. The baseline quotes at a fixed distance from the middle, the best of nine distances
on the judging seeds themselves, so that it is hard to beat. Prints both rewards with their standard errors; exits with 1 if PPO
is not better.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import corro
from corro.envs import MarketMakingVector

try:
    from stable_baselines3 import PPO  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from stable_baselines3.common.vec_env import VecEnv  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError:
    sys.exit("this example needs Stable-Baselines3: pip install stable-baselines3")

Numbers = npt.NDArray[Any]
JUDGING = range(100_000, 100_064)


class Markets(VecEnv):  # type: ignore[misc, unused-ignore]
    """A vector of Gymnasium, as Stable-Baselines3 takes it."""

    def __init__(self, envs: MarketMakingVector, seed: int) -> None:
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self.envs, self._seed = envs, seed
        self._actions: Numbers = np.zeros((envs.num_envs, 2))

    def reset(self) -> Numbers:
        """Begins all markets."""
        return self.envs.reset(seed=self._seed)[0]

    def step_async(self, actions: Numbers) -> None:
        """Keeps the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[Numbers, Numbers, Numbers, list[dict[str, Any]]]:
        """Steps all markets; those that are over begin again."""
        seen, rewards, over, _, infos = self.envs.step(self._actions)
        told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for place in np.flatnonzero(over):
            told[place] = {"terminal_observation": infos["final_obs"][place], "TimeLimit.truncated": True}
        return seen, rewards.astype(np.float32), over, told

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The vector's own, for each environment."""
        return [getattr(self.envs, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Single environments have no attributes."""
        raise NotImplementedError

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Single environments have no methods."""
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """None is."""
        return [False] * self.num_envs


def judge(make: Callable[[int], MarketMakingVector], policy: Callable[[Numbers], Numbers], seeds: Sequence[int]) -> Numbers:
    """The reward of an episode for each seed."""
    envs = make(len(seeds))
    seen, _ = envs.reset(seed=list(seeds))
    total, is_over = np.zeros(len(seeds)), np.zeros(len(seeds), np.bool_)
    while not is_over.all():
        seen, rewards, over, _, _ = envs.step(policy(seen))
        total += np.where(is_over, 0.0, rewards)
        is_over |= over
    return total


def main() -> int:
    """Trains, judges, prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scenario", default="config/markets/calm.toml")
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--duration", default="60s", help="of an episode")
    chosen = parser.parse_args()
    described = corro.scenario(chosen.scenario).to_dict()
    described["market"]["duration"] = chosen.duration

    def make(count: int) -> MarketMakingVector:
        return MarketMakingVector(count, scenario=described, beside="makers", interval="500ms", autoreset_mode="SameStep")

    def at(distance: float) -> Callable[[Numbers], Numbers]:
        return lambda seen: np.full((len(seen), 2), distance, np.float32)

    fixed = {distance: judge(make, at(distance), JUDGING) for distance in np.linspace(-1, 1, 9)}
    best = max(fixed, key=lambda each: float(fixed[each].mean()))
    learner = PPO("MlpPolicy", Markets(make(chosen.envs), seed=1), n_steps=64, batch_size=512, gamma=0.98, seed=1, device="cpu", verbose=0)
    learner.learn(chosen.steps)
    learned = judge(make, lambda seen: learner.predict(seen, deterministic=True)[0], JUDGING)
    error = np.sqrt(len(learned))
    print(f"fixed quotes, the best of 9 distances ({best:+.2f}): {fixed[best].mean():8.2f} +- {fixed[best].std() / error:.2f} ticks an episode")
    print(f"PPO after {chosen.steps:,} steps:                     {learned.mean():8.2f} +- {learned.std() / error:.2f}")
    gain = learned - fixed[best]
    print(f"better by {gain.mean():.2f} +- {gain.std() / error:.2f}, seed by seed")
    return 0 if gain.mean() > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
