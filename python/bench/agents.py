#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many actions a second agents in Python make: as arrays, one call an action, coroutines.

usage: python python/bench/agents.py [--seconds S] [--repeat N] [--agents COUNT]

An action is a request that reached the venue; seconds are those of the processor. Each row is the best of N runs. Needs the package:
`pip install .`
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import corro


def scenario(agents: list[dict[str, object]]) -> dict[str, object]:
    """One future, a link of a few milliseconds, and the agents."""
    return {
        "market": {"name": "bench", "duration": "1h", "sample": "1h"},
        "instrument": [{"id": 1, "symbol": "ESZ6", "product": 1, "kind": "future", "tick_size": "0.25", "price_low": "1000",
                        "price_high": "4000"}],
        "fundamental": [{"name": "value", "start_ticks": 10_000, "volatility_ticks": 1.5}],
        "link": [{"name": "far", "delay": {"kind": "lognormal", "least": "2ms", "median": "8ms", "sigma": 0.6, "most": "2s"}}],
        "agents": [{"group": "start", "kind": "ladder", "count": 1, "link": "far", "half_spread_ticks": 2, "levels": 3,
                    "lots": 5}, *agents],
    }  # fmt: skip


def act(batch: corro.Batch) -> corro.Actions:
    """Zero intelligence: a random side, a price around 2500, one lot; old orders go."""
    side = batch.random.integers(0, 2, len(batch)) * 2 - 1
    return corro.Actions(side, 2500 - side * batch.random.exponential(1.0, len(batch)), cancel=batch.open_orders > 0)


def call(me: corro.Agent) -> float:
    """The same, one order a call."""
    draw = me.random.random
    price = 2500 + round(draw() * 8 - 4) / 4
    if draw() < 0.5:
        me.buy(None, 1, price, time_in_force="ioc")
    else:
        me.sell(None, 1, price, time_in_force="ioc")
    return 0.01 + 0.01 * draw()


async def coroutine(me: corro.Agent) -> None:
    """The same, as a coroutine."""
    draw = me.random.random
    while await me.sleep(0.01 + 0.01 * draw()):
        price = 2500 + round(draw() * 8 - 4) / 4
        if draw() < 0.5:
            me.buy(None, 1, price, time_in_force="ioc")
        else:
            me.sell(None, 1, price, time_in_force="ioc")


def measure(agents: dict[str, Any], seconds: float) -> tuple[float, str]:
    """Actions a second of processor time, and how many."""
    market = corro.Market(scenario([]), seed=1, record=(), agents=agents)
    market.step(0.1)
    before, begin = market.result.commands, time.process_time()
    while (taken := time.process_time() - begin) < seconds:
        market.step(0.2)
    return (market.result.commands - before) / taken, f"{market.result.commands:,} commands"


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--agents", type=int, default=1000)
    chosen = parser.parse_args()
    rows: dict[str, tuple[dict[str, Any], float]] = {
        f"arrays, {chosen.agents:,} agents a batch": ({"crowd": corro.Crowd(act, chosen.agents, "10ms", beside=None)}, 2e6),
        f"arrays, {chosen.agents:,} agents a batch, with latency": ({"crowd": corro.Crowd(act, chosen.agents, "10ms", beside="start")}, 2e6),
        "one call an action, 100 agents": ({"me": corro.Agents(call, count=100, beside="start")}, 200e3),
        "coroutines, 100 agents": ({"me": corro.Agents(coroutine, count=100, beside="start")}, 150e3),
    }
    print(f"corro {corro.__version__}, NumPy {np.__version__}; actions a second, best of {chosen.repeat}")
    best = dict.fromkeys(rows, 0.0)
    for _ in range(chosen.repeat):
        for name, (agents, _) in rows.items():
            best[name] = max(best[name], measure(agents, chosen.seconds)[0])
    for name, (_, aim) in rows.items():
        print(f"{name:45} {best[name]:12,.0f}   aim {aim:10,.0f}")


if __name__ == "__main__":
    main()
