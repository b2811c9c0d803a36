# SPDX-License-Identifier: Apache-2.0
"""The package and what uses it pass a strict check of types."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, SANITIZED

import corro

USE = '''
import numpy as np

import corro

day: corro.Journal = corro.journal("runs/calm")
trades: corro.Frame = day.trades("ESZ6", start="2026-01-05", last=10)
price = trades["price"].mean()
book: corro.Book = day.book_at(np.datetime64("2026-01-05T14:30"), depth=3)
spread: float = book.spread
names: list[str] = [each.name for each in day.instruments]
flow: corro.Frame = corro.dbn("es.dbn", instrument=3)
levels: corro.Levels = day.books().at("2026-01-05T14:30", depth=3)


async def maker(me: corro.Agent, lots: int = 1) -> None:
    while await me.sleep("1s"):
        answer: corro.Answer = await me.buy("ESZ6", lots, me.quote().bid)
        if answer and await me.next_trade(timeout=2.0):
            me.cancel_all()


def calls(me: corro.Agent) -> float | None:
    return None if me.position() else 0.5


def act(batch: corro.Batch) -> corro.Actions:
    return corro.Actions(np.sign(batch.bid - batch.last), batch.last, cancel=batch.open_orders > 0)


market = corro.Market("calm.toml", agents={
    "maker": maker, "calls": calls, "makers": corro.Agents(maker, count=3, lots=2), "crowd": corro.Crowd(act, 10, "1s")})
halted: corro.Market = market.fork({"kind": "phase", "phase": "halted"})
results: list[corro.Result] = corro.sweep("calm.toml", range(3), folder="runs/kept", runner="ray")
'''
WRONG = '''
import corro

corro.journal("runs/calm").trades(start=[1])
corro.dbn(3)
'''


@pytest.mark.skipif(SANITIZED, reason="no native code runs")
def test_package_and_users_are_typed_and_wrong_types_are_found(tmp_path):
    # One run for all: most of its time goes into what all of them import.
    pytest.importorskip("mypy")
    scripts = [*(ROOT / "python" / "examples").glob("*.py"), *(ROOT / "python" / "bench").glob("*.py")]
    assert len(scripts) >= 3
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "wrong.py").write_text(WRONG)
    # In place, its neighbours in site-packages would count as sources of ours.
    shutil.copytree(pathlib.Path(corro.__file__).parent, tmp_path / "corro", ignore=shutil.ignore_patterns("*.so", "bin", "__pycache__"))
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, "corro", "use.py",
                           "wrong.py", *scripts], text=True, capture_output=True, cwd=tmp_path, timeout=300)
    found = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert done.returncode == 1 and [line.split(": error:")[0] for line in found] == ["wrong.py:4", "wrong.py:5"], done.stdout
