#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many steps a second environments make: one at a time, and many in parallel.

usage: python python/bench/environments.py [--seconds S] [--repeat N] [--envs COUNT] [--peer]

The market is a maker's own: beside it there are three traders, so that what is measured is the environment and not its scenario.
Two figures: steps a second by the clock, for which the machine must be idle, and a second of processor time, of all threads. Each
is the best of N runs. `--peer` measures mbt_gym as well
(from its repository: PyPI does not have it), whose model has no book. Needs the package: `pip install ".[rl]"`.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import corro
import corro.envs


def scenario(noise: int) -> dict[str, Any]:
    """One future, `noise` traders a second apart, and a link of some milliseconds."""
    return {
        "market": {"name": "bench", "duration": "1h", "sample": "1h", "orders_max": 10_000},
        "instrument": [{"id": 1, "symbol": "ESZ6", "product": 1, "kind": "future", "tick_size": "0.25", "price_low": "1000",
                        "price_high": "4000"}],
        "fundamental": [{"name": "value", "start_ticks": 10_000, "volatility_ticks": 1.5}],
        "link": [{"name": "far", "delay": {"kind": "lognormal", "least": "2ms", "median": "8ms", "sigma": 0.6, "most": "2s"}}],
        "agents": [
            {"group": "makers", "kind": "ladder", "count": 1, "link": "far", "half_spread_ticks": 2, "levels": 3, "lots": 5,
             "refresh": "10s"},
            {"group": "noise", "kind": "noise", "count": noise, "link": "far", "interval": "1s", "market_share": 0.2,
             "depth_ticks": 4, "life": "10s"},
        ],
    }  # fmt: skip


ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

Rate = tuple[float, float]
"""By the clock, by processor time."""


def steps_of_one(seconds: float) -> Rate:
    """Steps a second of a single environment."""
    env = corro.envs.MarketMaking(scenario(2), beside="makers", interval="100ms")
    actions = np.random.default_rng(1).uniform(-1, 1, (1000, 2)).astype(np.float32)
    env.reset(seed=1)
    return _rate(lambda i: 1 if not env.step(actions[i % 1000])[2] else _begin(env), seconds)


def _begin(env: Any) -> int:
    env.reset()
    return 1


def steps_of_many(count: int, seconds: float) -> Rate:
    """Steps a second of a vector."""
    envs = gymnasium.make_vec("corro/MarketMaking-v0", count, scenario=scenario(2), beside="makers", interval="100ms")
    actions = np.random.default_rng(1).uniform(-1, 1, (100, count, 2)).astype(np.float32)
    envs.reset(seed=1)

    def step(i: int) -> int:
        envs.step(actions[i % 100])
        return count

    return _rate(step, seconds)


def steps_of_calm(count: int, seconds: float) -> Rate:
    """Steps a second of a vector on the scenario calm, whose 122 agents act meanwhile."""
    envs = gymnasium.make_vec("corro/MarketMaking-v0", count, scenario=str(ROOT / "config/markets/calm.toml"), beside="makers", interval="100ms")
    actions = np.zeros((count, 2), dtype=np.float32)
    envs.reset(seed=1)

    def step(i: int) -> int:
        envs.step(actions)
        return count

    return _rate(step, seconds)


def steps_of_peer(count: int, seconds: float) -> Rate:
    """Steps a second of mbt_gym with `count` trajectories."""
    from mbt_gym.gym.TradingEnvironment import TradingEnvironment  # type: ignore[import-not-found, import-untyped, unused-ignore]

    env = TradingEnvironment(num_trajectories=count)
    env.reset()
    action = np.ones((count, 2)) * 0.5

    def step(i: int) -> int:
        if np.any(env.step(action)[2]):
            env.reset()
        return count

    return _rate(step, seconds)


def _rate(step: Callable[[int], int], seconds: float) -> Rate:
    begin, worked, made, i = time.perf_counter(), time.process_time(), 0, 0
    while time.perf_counter() - begin < seconds:
        for _ in range(20):
            made += step(i)
            i += 1
    return made / (time.perf_counter() - begin), made / (time.process_time() - worked)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--peer", action="store_true")
    chosen = parser.parse_args()
    many = chosen.envs
    rows: dict[str, tuple[Callable[[], Rate], float | None]] = {
        "one": (lambda: steps_of_one(chosen.seconds), 150e3),
        f"{many} in parallel": (lambda: steps_of_many(many, chosen.seconds), 1e6),
        f"{many} in parallel, scenario calm": (lambda: steps_of_calm(many, chosen.seconds), None),
    }
    if chosen.peer:
        rows["mbt_gym, one"] = (lambda: steps_of_peer(1, chosen.seconds), None)
        rows[f"mbt_gym, {many} in parallel"] = (lambda: steps_of_peer(many, chosen.seconds), None)
    print(f"corro {corro.__version__}, Gymnasium {gymnasium.__version__}, {len(os.sched_getaffinity(0))} processors; steps a second, "
          f"best of {chosen.repeat}")  # fmt: skip
    best = {name: (0.0, 0.0) for name in rows}
    for _ in range(chosen.repeat):
        for name, (run, _) in rows.items():
            clock, processor = run()
            best[name] = max(best[name][0], clock), max(best[name][1], processor)
    print(f"{'':40} {'by the clock':>14} {'by processor':>14}")
    for name, (_, aim) in rows.items():
        print(f"{name:40} {best[name][0]:14,.0f} {best[name][1]:14,.0f}   {'' if aim is None else f'aim {aim:10,.0f} by the clock'}")


if __name__ == "__main__":
    main()
