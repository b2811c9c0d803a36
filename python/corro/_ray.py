# SPDX-License-Identifier: Apache-2.0
"""Runs as tasks of Ray, for `corro.sweep` and `corro.compare` with ``runner="ray"``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from corro._arguments import Duration, duration_ns
from corro._market import Result, Scenario
from corro._worker import run_one

try:
    import ray  # type: ignore[import-untyped, import-not-found, unused-ignore]
except ImportError as e:
    raise ImportError('runner="ray" needs Ray: pip install corro[ray]') from e


def run_all(
    jobs: int | None,
    runs: list[tuple[Scenario, int]],
    until: Duration | None,
    progress: Callable[[int, int], object] | None,
    keep: Callable[[Result], None] | None,
) -> list[Result]:
    """One task a run; results in the order of the runs. What fails or is interrupted cancels the tasks that are left."""
    until_ns = None if until is None else duration_ns("until", until)
    if not ray.is_initialized():
        ray.init(log_to_driver=False, num_cpus=None if "RAY_ADDRESS" in os.environ else jobs)
    task = ray.remote(run_one)
    there = ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
    most = max(1, int(there.get("CPU", 1))) if jobs is None else jobs
    results: list[Result | None] = [None] * len(runs)
    waiting = list(enumerate(runs))[::-1]
    running: dict[Any, int] = {}
    done = 0
    try:
        while waiting or running:
            while waiting and len(running) < most:
                place, (what, seed) = waiting.pop()
                running[task.remote(what.text, what.file, seed, until_ns)] = place
            for each in ray.wait(list(running), num_returns=1)[0]:
                place = running.pop(each)
                try:
                    result = ray.get(each)
                except ray.exceptions.RayError as e:
                    what, seed = runs[place]
                    raise RuntimeError(f"{what.name}, seed {seed}: {e}") from None
                results[place] = result
                done += 1
                if keep is not None:
                    keep(result)
                if progress is not None:
                    progress(done, len(runs))
    finally:
        for each in running:
            ray.cancel(each, force=True)
    return [each for each in results if each is not None]
