# SPDX-License-Identifier: Apache-2.0
"""The process that a sweep starts: reads runs from its standard input, writes their results to its standard output."""

from __future__ import annotations

import os
import pickle
import signal
import sys

import numpy as np

from corro._market import Market, Result, Scenario


def run_one(text: str, file: str, seed: int, until_ns: int | None) -> Result:
    """The result of one market."""
    market = Market(Scenario(text, file), seed=seed, record=())
    return market.run(None if until_ns is None else np.timedelta64(until_ns, "ns"))


def main() -> None:
    """Runs markets until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever else is printed goes to standard error, so that it cannot get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    known: dict[tuple[str, str], Scenario] = {}
    while True:
        try:
            text, file, seed, until_ns = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: object
        try:
            what = known.get((text, file))
            if what is None:
                what = known[text, file] = Scenario(text, file)
            market = Market(what, seed=seed, record=())
            answer = market.run(None if until_ns is None else np.timedelta64(until_ns, "ns"))
        except Exception as e:
            answer = f"{type(e).__name__}: {e}"
        pickle.dump(answer, answers)
        answers.flush()
