# SPDX-License-Identifier: Apache-2.0
"""Many runs, each in a process or a task of Ray: sweeps over seeds, and comparisons of two designs."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from corro import _corro
from corro._arguments import Duration, duration_ns, seed_argument
from corro._frame import Frame
from corro._market import Result, Scenario, ScenarioLike, scenario

Progress = Callable[[int, int], object]
"""Called with the number of runs that are done, and of all."""

_WORKER = "from corro._worker import main; main()"
_JOBS_MOST = 256
_RUNNERS = ("processes", "ray")


@dataclass(frozen=True)
class Comparison:
    """Two designs over the same seeds. ``print(comparison)`` shows a table; picklable."""

    a: list[Result]
    b: list[Result]
    metrics: Frame
    """A row for each metric that all runs have: metric, a and b (means), difference (b less a), low and high (of its
    95 % interval, by bootstrap), p_value (by sign flips), p_corrected (by Holm's procedure, over all metrics)."""

    @property
    def different(self) -> list[str]:
        """The metrics whose corrected p-value is below 0.05."""
        return [str(each) for each in self.metrics["metric"][self.metrics["p_corrected"] < 0.05]]

    def __str__(self) -> str:
        m = self.metrics
        width = max([len(each) for each in m.categories("metric")], default=6)
        lines = [f"{'metric':{width}}  {'A':>12}  {'B':>12}  {'B - A':>12}  {'interval of B - A':>27}  {'p':>6}"]
        for row in m.to_numpy():
            lines.append(
                f"{row['metric']:{width}}  {row['a']:12.5g}  {row['b']:12.5g}  {row['difference']:+12.4g}  "
                f"{row['low']:+12.4g} to {row['high']:+11.4g}  {row['p_corrected']:6.4f}"
                f"{'  differs' if row['p_corrected'] < 0.05 else ''}"
            )
        return "\n".join(lines)


def sweep(
    source: ScenarioLike,
    seeds: Iterable[SupportsIndex],
    *,
    until: Duration | None = None,
    jobs: SupportsIndex | None = None,
    progress: Progress | None = None,
    folder: str | os.PathLike[str] | None = None,
    runner: str = "processes",
) -> list[Result]:
    """Runs a scenario once for each seed, each in a process.

    Parameters
    ----------
    source
        A TOML file, a dictionary, or a `Scenario`.
    seeds
        Such as ``range(200)``.
    until
        How far each runs; the scenario's duration if left out.
    jobs
        Runs at a time; one for each processor of this machine, or of Ray's cluster, if left out.
    progress
        Called after each run with how many are done, and how many there are.
    folder
        Keeps each result there as soon as it is known, so that the same call continues after an interruption, and more seeds
        cost only themselves. A folder belongs to one scenario with the content of the files that it names, one `until` and one
        version.
    runner
        ``"processes"`` of this machine; or ``"ray"``: each run is a task of Ray (``pip install corro[ray]``), on the cluster
        to which ``ray.init`` has connected, else on this machine. The package is needed on all nodes.

    Returns
    -------
    list of Result
        In the order of the seeds, whatever runs them.
    """
    what, chosen, run_all = scenario(source), _seeds(seeds, 1), _runner(runner, jobs)
    if folder is None:
        return run_all([(what, seed) for seed in chosen], until, progress, None)
    with _Kept(Path(folder), what, until) as kept:
        return _run_missing(what, chosen, until, progress, kept, run_all)


def compare(
    a: ScenarioLike,
    b: ScenarioLike,
    *,
    seeds: Iterable[SupportsIndex] = range(20),
    until: Duration | None = None,
    jobs: SupportsIndex | None = None,
    progress: Progress | None = None,
    folder: str | os.PathLike[str] | None = None,
    runner: str = "processes",
) -> Comparison:
    """In which metrics two designs differ: pairs of runs with the same seed, as ``corro market compare`` does it.

    Parameters
    ----------
    a, b
        TOML files, dictionaries, or `Scenario` objects.
    seeds
        Two at least; more find smaller differences.
    until, jobs, progress, folder, runner
        As for `sweep`; the folder gets one of each design, `a` and `b`.

    Examples
    --------
    >>> bump = corro.compare("latency_arbitrage.toml", "latency_arbitrage_with_bump.toml", seeds=range(200))
    >>> print(bump)
    >>> bump.different
    """
    first, second = scenario(a), scenario(b)
    chosen = _seeds(seeds, 2)
    run_all = _runner(runner, jobs)
    if folder is None:
        runs = [(which, seed) for which in (first, second) for seed in chosen]
        results = run_all(runs, until, progress, None)
    else:
        results = []
        for which, name in ((first, "a"), (second, "b")):
            with _Kept(Path(folder) / name, which, until) as kept:
                results += _run_missing(which, chosen, until, progress, kept, run_all)
    of_a, of_b = results[: len(chosen)], results[len(chosen) :]
    names = [name for name in of_a[0].metrics if all(name in each.metrics for each in results)]
    rows = _corro.compare_metrics(
        [(name, [each.metrics[name] for each in of_a], [each.metrics[name] for each in of_b]) for name in names]
    )
    columns: list[tuple[str, str, Any, list[str]]] = [
        ("metric", "category", np.arange(len(names), dtype=np.int32), names)
    ]
    titles = ("a", "b", "difference", "low", "high", "p_value", "p_corrected")
    for place, title in enumerate(titles, start=1):
        columns.append((title, "number", np.array([row[place] for row in rows], dtype=np.float64), []))
    return Comparison(of_a, of_b, Frame(_corro.columns_of(columns)))


class _Kept:
    """The results of one scenario in a folder: ``sweep.json`` says of what, ``results.jsonl`` has a line for each seed."""

    def __init__(self, folder: Path, what: Scenario, until: Duration | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.known: dict[int, Result] = {}
        described = {
            "scenario": what.text,
            "until_ns": None if until is None else duration_ns("until", until),
            "version": _corro.version,
            "files": _digests(what),
        }
        manifest, lines = folder / "sweep.json", folder / "results.jsonl"
        if manifest.exists():
            try:
                before = json.loads(manifest.read_text(encoding="utf-8"))
            except ValueError:
                raise ValueError(f"{manifest}: is damaged; remove the folder, or give another one") from None
            other = [key for key, value in described.items() if before.get(key, {} if key == "files" else None) != value]
            if other:
                raise ValueError(f"{folder}: holds another sweep (different: {', '.join(other)}); give another folder")
        elif lines.exists() and lines.stat().st_size != 0:
            raise ValueError(f"{folder}: has results, but no sweep.json that describes them; give another folder")
        else:
            # A full disk leaves no half of it.
            unfinished = folder / "sweep.json.new"
            unfinished.write_text(json.dumps(described), encoding="utf-8")
            unfinished.replace(manifest)
        whole = 0
        if lines.exists():
            for number, line in enumerate(lines.read_bytes().splitlines(keepends=True), start=1):
                if not line.endswith(b"\n"):
                    break  # an interruption cut it
                try:
                    fields = json.loads(line)
                    result = Result(**{**fields, "time": np.timedelta64(fields["time"], "ns")})
                except (ValueError, TypeError, KeyError):
                    raise ValueError(f"{lines}:{number}: is damaged; remove the line, and its seed runs again") from None
                self.known[result.seed] = result
                whole += len(line)
            os.truncate(lines, whole)
        self._file = lines.open("a", encoding="utf-8")

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *unused: object) -> None:
        self._file.close()

    def add(self, result: Result) -> None:
        fields = {**vars(result), "time": int(result.time.astype(np.int64))}
        self._file.write(json.dumps(fields) + "\n")
        self._file.flush()
        self.known[result.seed] = result


def _digests(what: Scenario) -> dict[str, str]:
    """The content of each file that a scenario names: a text in it that is the path of a file."""
    places = [Path(what.file).parent, Path()]
    if "CORRO_DATA_DIR" in os.environ:
        places.append(Path(os.environ["CORRO_DATA_DIR"]))
    found = {}

    def look(value: Any) -> None:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for each in value:
                look(each)
        elif isinstance(value, str):
            file = next((place / value for place in places if os.path.isfile(place / value)), None)
            if file is not None:
                with file.open("rb") as content:
                    found[value] = hashlib.file_digest(content, "sha256").hexdigest()

    look(what.to_dict())
    return found


_Runs = Callable[
    [list[tuple[Scenario, int]], "Duration | None", "Progress | None", "Callable[[Result], None] | None"], list[Result]
]


def _run_missing(
    what: Scenario, seeds: list[int], until: Duration | None, progress: Progress | None, kept: _Kept, run_all: _Runs
) -> list[Result]:
    missing = [seed for seed in seeds if seed not in kept.known]
    before = len(seeds) - len(missing)
    shifted = None if progress is None else lambda done, count: progress(before + done, before + count)
    if missing:
        run_all([(what, seed) for seed in missing], until, shifted, kept.add)
    return [kept.known[seed] for seed in seeds]


def _seeds(seeds: Iterable[SupportsIndex], least: int) -> list[int]:
    if isinstance(seeds, (int, str)):
        raise TypeError(f"seeds={seeds!r}: give several, such as range(20)")
    chosen = [seed_argument("seeds", each) for each in seeds]
    if len(chosen) < least:
        raise ValueError(f"seeds: {'a comparison needs two seeds at least' if least == 2 else 'there are none'}")
    if len(set(chosen)) != len(chosen):
        raise ValueError("seeds: one of them is there twice; runs of the same seed are equal")
    return chosen


def _runner(runner: str, jobs: SupportsIndex | None) -> _Runs:
    if runner not in _RUNNERS:
        raise ValueError(f"runner={runner!r}: {' or '.join(map(repr, _RUNNERS))}")
    most = _jobs(jobs)
    if runner == "ray":
        from corro._ray import run_all

        return functools.partial(run_all, most)
    return functools.partial(_run_all, len(os.sched_getaffinity(0)) if most is None else most)


def _jobs(jobs: SupportsIndex | None) -> int | None:
    if jobs is None:
        return None
    number = seed_argument("jobs", jobs)
    if not 1 <= number <= _JOBS_MOST:
        raise ValueError(f"jobs={number}: from 1 to {_JOBS_MOST} runs at a time")
    return number


class _Worker:
    """A process that runs one market after the other. It shares nothing with this one."""

    def __init__(self) -> None:
        path = [str(Path(__file__).resolve().parent.parent), *sys.path]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(each for each in path if each)},
            start_new_session=True,  # Ctrl-C reaches this process alone, which ends them
        )

    def run(self, what: Scenario, seed: int, until_ns: int | None) -> Result:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            pickle.dump((what.text, what.file, seed, until_ns), self._process.stdin)
            self._process.stdin.flush()
            answer = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            code = self._process.wait()
            how = f"signal {-code}" if code < 0 else f"code {code}"
            raise RuntimeError(f"the process of {what.name}, seed {seed}, ended with {how}") from None
        if isinstance(answer, Result):
            return answer
        raise RuntimeError(f"{what.name}, seed {seed}: {answer}")

    def end(self, kill: bool = False) -> None:
        if kill:
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass
        self._process.wait()


def _run_all(
    jobs: int,
    runs: list[tuple[Scenario, int]],
    until: Duration | None,
    progress: Progress | None,
    keep: Callable[[Result], None] | None,
) -> list[Result]:
    until_ns = None if until is None else duration_ns("until", until)
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for place in range(len(runs)):
        waiting.put(place)
    answers: queue.SimpleQueue[tuple[int, Result | BaseException]] = queue.SimpleQueue()
    workers = [_Worker() for _ in range(min(jobs, len(runs)))]

    def serve(worker: _Worker) -> None:
        while True:
            try:
                place = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                answers.put((place, worker.run(*runs[place], until_ns)))
            except BaseException as e:
                answers.put((place, e))
                return

    threads = [threading.Thread(target=serve, args=(each,), daemon=True) for each in workers]
    results: list[Result | None] = [None] * len(runs)
    is_done = False
    try:
        for thread in threads:
            thread.start()
        for done in range(1, len(runs) + 1):
            place, answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            results[place] = answer
            if keep is not None:
                keep(answer)
            if progress is not None:
                progress(done, len(runs))
        is_done = True
    finally:
        while not is_done:
            # Nothing more is started; what runs is ended below.
            try:
                waiting.get_nowait()
            except queue.Empty:
                break
        for worker in workers:
            worker.end(kill=not is_done)
        for thread in threads:
            thread.join()
    return [each for each in results if each is not None]
