#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains PPO of Stable-Baselines3 to make a market, several times, and compares it with fixed quotes on markets that it has not seen.

usage: python python/examples/learn_to_make_a_market.py [--trainings N] [--steps N] [--markets N] [--envs COUNT] [--scenario FILE]

Needs the package and the learner: `pip install . stable-baselines3 gymnasium`. The environment is `corro/MarketMaking-v0` as a
vector, which runs the markets in native code. There are two baselines: the policy before its training, and quotes at a fixed
distance from the middle, the best of nine distances on the judging markets themselves, so that it is hard to beat. All policies meet
the same markets, so differences are of pairs. Prints rewards with their standard errors; exits with 1 if the trained policies are not
better than both baselines by two standard errors.
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
FIRST_JUDGING = 100_000


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


def thinned(scenario: str, share: float, duration: str) -> dict[str, Any]:
    """The scenario with a share of its agents: markets cost less, and a maker matters more."""
    described = corro.scenario(scenario).to_dict()
    described["market"] |= {"duration": duration, "orders_max": 10_000}
    for group in described["agents"]:
        if group["kind"] in ("noise", "value"):
            group["count"] = max(1, round(group.get("count", 1) * share))
    return described


def shown(rewards: Numbers) -> str:
    """A mean, and the standard error of it."""
    return f"{rewards.mean():8.2f} +- {rewards.std(ddof=1) / np.sqrt(len(rewards)):5.2f}"


def main() -> int:
    """Trains, judges, prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scenario", default="config/markets/calm.toml")
    parser.add_argument("--share", type=float, default=0.2, help="of the scenario's noise and value traders")
    parser.add_argument("--duration", default="60s", help="of an episode")
    parser.add_argument("--trainings", type=int, default=5, help="each with a seed of its own")
    parser.add_argument("--steps", type=int, default=200_000, help="of each training")
    parser.add_argument("--markets", type=int, default=512, help="that judge")
    parser.add_argument("--envs", type=int, default=32)
    chosen = parser.parse_args()
    described = thinned(chosen.scenario, chosen.share, chosen.duration)
    judging = range(FIRST_JUDGING, FIRST_JUDGING + chosen.markets)

    def make(count: int) -> MarketMakingVector:
        return MarketMakingVector(count, scenario=described, beside="makers", interval="500ms", autoreset_mode="SameStep")

    def at(distance: float) -> Callable[[Numbers], Numbers]:
        return lambda seen: np.full((len(seen), 2), distance, np.float32)

    def judged(learner: Any) -> Numbers:
        return judge(make, lambda seen: learner.predict(seen, deterministic=True)[0], judging)

    fixed = {distance: judge(make, at(distance), judging) for distance in np.linspace(-1, 1, 9)}
    best = max(fixed, key=lambda each: float(fixed[each].mean()))
    print(f"ticks an episode, in {len(judging)} markets with their standard error")
    print(f"fixed quotes, the best of 9 distances ({best:+.2f}): {shown(fixed[best])}", flush=True)
    before, after = [], []
    for seed in range(chosen.trainings):
        markets = Markets(make(chosen.envs), seed=1_000 * seed)
        learner = PPO("MlpPolicy", markets, n_steps=64, batch_size=512, gamma=0.98, seed=seed, device="cpu", verbose=0)
        before.append(judged(learner))
        learner.learn(chosen.steps)
        after.append(judged(learner))
        print(f"training {seed}: before {shown(before[-1])}, after {chosen.steps:,} steps {shown(after[-1])}", flush=True)
    means = np.array([each.mean() for each in after])
    print(f"trainings: mean {means.mean():.2f}, from {means.min():.2f} to {means.max():.2f}")
    # One number for each market: what the trainings differ in is in the lines above.
    better = True
    for name, baseline in (("the policy before training", np.mean(before, axis=0)), ("fixed quotes", fixed[best])):
        gain = np.mean(after, axis=0) - baseline
        print(f"better than {name} by {shown(gain)}, market by market")
        better = better and gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain))
    return 0 if better else 1


if __name__ == "__main__":
    sys.exit(main())
