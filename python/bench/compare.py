#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the package, and the peers that can be installed beside it, in one interleaved run; prints a table, losses first.

usage: python python/bench/compare.py [--seconds S] [--repeat N] [--rows REGEX] [--trades N] [--markdown FILE]

Rates are per second of processor time of all threads, so that other programs on the machine change them little; the rows with `clock`
in their names are by the clock, and need an idle machine. Each figure is the median of N runs, with the least and the most. A row is
set against its peer in the same run, and against the rate that was aimed at. Needs the package (`pip install ".[rl]"`); polars for the
row of frames; `pip install bourse` for the peer.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import corro

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import agents as agents_bench
import environments as environments_bench

BAND = (9_990, 10_010)
"""Prices of the peer's agents, in ticks: as wide as ours."""


@dataclass
class Row:
    """One piece of work: a function of the seconds that it may take, and what it is compared with."""

    name: str
    unit: str
    run: Callable[[float], float]
    aim: float | None = None
    peer: str | None = None
    is_time: bool = False
    """Less is better."""
    samples: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Of the runs."""
        return statistics.median(self.samples)

    def against(self, other: float) -> float:
        """How many times better than another figure."""
        return other / self.median if self.is_time else self.median / other


def native(count: int) -> Callable[[float], float]:
    """Actions a second of agents that only the scenario names: those by which simulators of markets are compared."""

    def run(seconds: float) -> float:
        described = agents_bench.scenario([])
        described["market"] |= {"orders_max": 65_536}  # type: ignore[operator]
        described["link"] = [{"name": "far", "delay": {"kind": "uniform", "least": "50us", "most": "150us"}}]
        described["agents"] = [{"group": "zi", "kind": "banded_zero_intelligence", "count": count, "link": "far"}]
        market = corro.Market(described, seed=1, record=())
        market.step("1s")
        before, begin = market.result.commands, time.process_time()
        while (taken := time.process_time() - begin) < seconds:
            market.step(20_000 / count)
        return (market.result.commands - before) / taken

    return run


def python_agents(make: Callable[[], dict[str, Any]]) -> Callable[[float], float]:
    """Actions a second of agents in Python."""
    return lambda seconds: agents_bench.measure(make(), seconds)[0]


def bourse_arrays(seconds: float) -> float:
    """Its agents as arrays: each has at most one order, and replaces it. No latency."""
    from bourse import core  # type: ignore[import-not-found, import-untyped, unused-ignore]

    count, random = 1_000, np.random.default_rng(1)
    env = core.StepEnvNumpy(1, 0, 1, 100_000)
    traders, ones, nothing = np.arange(count, dtype=np.uint32), np.ones(count, np.uint32), np.zeros(count, np.uint64)
    news, cancels = np.full(count, 1, np.uint32), np.full(count, 2, np.uint32)
    ids, made, begin = None, 0, time.process_time()
    while time.process_time() - begin < seconds:
        if ids is not None:
            env.submit_instructions((cancels, ones.astype(bool), ones, traders, ones, ids))
            made += count
        side = random.integers(0, 2, count).astype(bool)
        ids = env.submit_instructions((news, side, ones, traders, random.integers(*BAND, count).astype(np.uint32), nothing))
        made += count
        env.step()
    return made / (time.process_time() - begin)


def bourse_calls(seconds: float) -> float:
    """Its agents one call an action: a hundred that each enter an order or cancel it."""
    from bourse import core
    from bourse.step_sim.agents import RandomAgent  # type: ignore[import-not-found, import-untyped, unused-ignore]

    random = np.random.default_rng(1)
    env = core.StepEnv(1, 0, 1, 100_000)
    all_of_them = [RandomAgent(i, 1.0, BAND, (1, 2), 1) for i in range(100)]
    made, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        for each in all_of_them:
            each.update(random, env)
        env.step()
        made += len(all_of_them)
    return made / (time.process_time() - begin)


def crossing(batch: corro.Batch) -> corro.Actions:
    """Half of the agents sell to the other half: a trade for every two actions."""
    return corro.Actions(np.where(np.arange(len(batch)) % 2 == 0, 1, -1), 2500)


def trades_into_polars(count: int) -> Callable[[float], float]:
    """Seconds to make a data frame of polars from the trades of a market, for ten million of them."""
    made: list[Any] = []

    def run(seconds: float) -> float:
        import polars

        if not made:
            market = corro.Market(agents_bench.scenario([]), seed=1, record=("trades",),
                                  agents={"crowd": corro.Crowd(crossing, 1_000, "10ms", beside=None)})  # fmt: skip
            market.step("1s")
            market.step(f"{count // market.result.trades + 1}s")
            made.append(market)
        begin = time.process_time()
        frame = polars.DataFrame(made[0].trades)
        assert frame.height >= count
        return (time.process_time() - begin) * 10_000_000 / frame.height

    return run


def import_time(seconds: float) -> float:
    """Milliseconds of a new process to the class of markets, less those of one that imports nothing."""

    def of(script: str) -> float:
        timing = "import resource; u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
        return float(subprocess.run([sys.executable, "-c", f"{script}\n{timing}"], check=True, capture_output=True, text=True).stdout)

    return 1_000 * (of("import corro; corro.Market") - of(""))


def by_clock(run: Callable[[float], tuple[float, float]]) -> Callable[[float], float]:
    """Of two rates, the one by the clock."""
    return lambda seconds: run(seconds)[0]


def by_processor(run: Callable[[float], tuple[float, float]]) -> Callable[[float], float]:
    """Of two rates, the one by processor time."""
    return lambda seconds: run(seconds)[1]


def rows(trades: int) -> list[Row]:
    """All of them; peers without an aim."""

    def crowd(beside: str | None) -> Callable[[float], float]:
        return python_agents(lambda: {"crowd": corro.Crowd(agents_bench.act, 1_000, "10ms", beside=beside)})

    bench = environments_bench
    return [
        Row("native agents, 100", "actions/s", native(100), 1e6),
        Row("native agents, 1,000", "actions/s", native(1_000), 1e6),
        Row("arrays of 1,000, with latency", "actions/s", crowd("start"), 2e6),
        Row("arrays of 1,000, no latency", "actions/s", crowd(None), None, "bourse, arrays of 1,000"),
        Row("bourse, arrays of 1,000", "actions/s", bourse_arrays),
        Row("one call an action", "actions/s", python_agents(lambda: {"me": corro.Agents(agents_bench.call, count=100, beside="start")}),
            200e3, "bourse, one call an action"),
        Row("bourse, one call an action", "actions/s", bourse_calls),
        Row("coroutines", "actions/s", python_agents(lambda: {"me": corro.Agents(agents_bench.coroutine, count=100, beside="start")}), 150e3),
        Row("one environment", "steps/s", by_processor(bench.steps_of_one), 150e3),
        Row("64 environments", "steps/s", by_processor(lambda seconds: bench.steps_of_many(64, seconds))),
        Row("64 environments, clock", "steps/s", by_clock(lambda seconds: bench.steps_of_many(64, seconds)), 1e6),
        Row("10 million trades into polars", "s", trades_into_polars(trades), 1.0, is_time=True),
        Row("import of corro.Market", "ms", import_time, 150.0, is_time=True),
    ]  # fmt: skip


def shown(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(measured: list[Row]) -> list[str]:
    """The rows that have something to be compared with, losses first, and then the others."""

    def worst(row: Row) -> float:
        return min((row.against(each) for each in (row.aim, peers.get(row.peer or "")) if each is not None), default=float("inf"))

    peers = {row.name: row.median for row in measured}
    lines = ["| row | figure | least to most | aim | of the aim | peer | of the peer |", "|---|---|---|---|---|---|---|"]
    for row in sorted(measured, key=worst):
        peer = peers.get(row.peer or "")
        cells = [row.name, f"{shown(row.median)} {row.unit}", f"{shown(min(row.samples))} to {shown(max(row.samples))}",
                 "" if row.aim is None else shown(row.aim), "" if row.aim is None else f"{row.against(row.aim):.2f}",
                 "" if peer is None else shown(peer), "" if peer is None else f"{row.against(peer):.2f}"]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def show_progress(text: str) -> None:
    """In a terminal one line, which the next one replaces; elsewhere nothing."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="of each run")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rows", default="", help="only rows whose names match")
    parser.add_argument("--trades", type=int, default=10_000_000)
    parser.add_argument("--markdown", type=pathlib.Path, help="writes the table there, too")
    chosen = parser.parse_args()
    wanted = [row for row in rows(chosen.trades) if re.search(chosen.rows, row.name)]
    missing: dict[str, str] = {}
    for run in range(1, chosen.repeat + 1):
        for row in wanted:
            if row.name in missing:
                continue
            show_progress(f"run {run} of {chosen.repeat}: {row.name}")
            try:
                row.samples.append(row.run(chosen.seconds))
            except ImportError as e:
                missing[row.name] = str(e)
    show_progress("")
    lines = table([row for row in wanted if row.samples])
    print(f"corro {corro.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}; {chosen.repeat} runs of {chosen.seconds} s")
    print("\n".join(lines))
    for name, reason in missing.items():
        print(f"not measured: {name}: {reason}")
    if chosen.markdown:
        chosen.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
