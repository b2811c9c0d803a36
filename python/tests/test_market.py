# SPDX-License-Identifier: Apache-2.0
"""Markets: the same as the program runs, whoever runs them and however."""

from __future__ import annotations

import datetime
import json
import pickle
import re
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import RECORDED, SCENARIOS, call, measures_memory

import corro

CALM = SCENARIOS / "calm.toml"


def small(**market):
    """A market of noise traders, as a dictionary. With few orders at most it begins in a fifth of the time."""
    return {
        "market": {"name": "small", "duration": "20s", "seed": 5, "orders_max": 10_000, **market},
        "instrument": [{"id": 1, "symbol": "ESZ6", "product": 1, "kind": "future", "tick_size": "0.25",
                        "price_low": "1000", "price_high": "4000"}],
        "fundamental": [{"name": "value", "start_ticks": 10_000, "volatility_ticks": 1.5}],
        "link": [{"name": "far", "delay": {"kind": "lognormal", "least": "2ms", "median": "8ms", "sigma": 0.6, "most": "2s"}}],
        "agents": [
            {"group": "noise", "kind": "noise", "count": 30, "link": "far", "interval": "500ms", "market_share": 0.2,
             "depth_ticks": 4, "life": "10s"},
            {"group": "makers", "kind": "ladder", "count": 1, "link": "far", "half_spread_ticks": 2, "levels": 3,
             "lots": 5},
        ],
    }


@pytest.mark.parametrize("name", ["calm", "flash_crash", "calendar"])
def test_a_market_is_that_of_the_program(market_program, tmp_path, name):
    printed = call(market_program, "run", SCENARIOS / f"{name}.toml", "--seed", 7, "--out", tmp_path / "run", "--quiet")
    market = corro.Market(SCENARIOS / f"{name}.toml", seed=7, record=corro._market.TABLES)
    result = market.run()
    expected = json.loads((tmp_path / "run" / "result.json").read_text())
    assert f"digest {result.digest}, state hash {result.state_hash}" in printed
    assert (result.commands, result.trades, result.digest, result.state_hash) == (
        expected["commands"], expected["trades"], expected["digest"], expected["state_hash"])
    assert result.metrics == expected["metrics"]
    day = corro.journal(tmp_path / "run")
    assert market.trades == day.trades()
    assert market.quotes == day.quotes()
    assert market.levels == day.levels()
    assert market.orders == day.orders()
    assert len(market.trades) == result.trades > 0


def test_pieces_make_the_same_market():
    whole = corro.Market(small())
    expected = whole.run()
    stepped = corro.Market(small(), record=())
    seen = []
    while stepped.step("700ms"):
        seen.append(stepped.metrics["commands"])
    assert seen == sorted(seen) and seen[-1] > seen[0] > 0
    assert stepped.is_over and stepped.elapsed > np.timedelta64(20, "s")
    parts = corro.Market(small())
    for until in (0, "3s", 7.5, datetime.timedelta(seconds=11), np.timedelta64(19, "s"), None):
        parts.run(until)
    assert parts.result == expected, "looking at the metrics on the way changes nothing"
    assert parts.trades == whole.trades
    assert corro.Market(small(), seed=6).run().digest != expected.digest


def test_progress_is_told_and_changes_nothing():
    market = corro.Market(small())
    told = []
    market.run("3s")
    result = market.run(progress=lambda now, end: told.append((now, end)))
    assert result == corro.Market(small()).run()
    assert len(told) == 100 and told[-1] == (np.timedelta64(20, "s"), np.timedelta64(20, "s"))
    assert told[0][0] == np.timedelta64(3_170, "ms") and all(a[0] < b[0] for a, b in zip(told, told[1:], strict=False))
    assert market.run(progress=lambda now, end: told.append((now, end))) == result and len(told) == 100, "no time passed"
    with pytest.raises(ZeroDivisionError):
        corro.Market(small()).run(progress=lambda now, end: 1 / 0)


def test_a_dictionary_is_a_scenario(monkeypatch):
    original = corro.scenario(CALM)
    again = corro.scenario(original.to_dict())
    assert (again.name, again.agents, again.instruments) == (original.name, original.agents, original.instruments)
    assert [(each.name, each.tick_size) for each in again.instruments] == [("ESZ6", 0.25)]
    assert corro.Market(again).run("5s").digest == corro.Market(CALM).run("5s").digest
    changed = original.to_dict()
    changed["agents"][0]["count"] += 1
    assert corro.scenario(changed).agents == original.agents + 1
    monkeypatch.chdir(SCENARIOS)  # one of them has a file beside it
    for file in sorted(SCENARIOS.glob("*.toml")):
        each = corro.scenario(file)
        assert corro.scenario(each.to_dict()).agents == each.agents, file


def test_positions_add_up():
    market = corro.Market(small())
    market.run()
    held = market.positions
    assert held["position"].sum() == 0
    assert held["cash"].sum() == pytest.approx(0)
    assert held["traded"].sum() == 2 * market.trades["quantity"].sum()
    assert held["profit"].sum() == pytest.approx(-held["fees"].sum())
    last = market.trades["price"][-1]
    assert (held["last"] == last).all()
    assert np.allclose(held["profit"], held["cash"] + held["position"] * last - held["fees"])
    bought = {}
    for trade in market.trades.to_numpy():
        bought[trade["buy_account"]] = bought.get(trade["buy_account"], 0) + trade["quantity"]
        bought[trade["sell_account"]] = bought.get(trade["sell_account"], 0) - trade["quantity"]
    assert bought == dict(zip(held["account"].tolist(), held["position"].tolist(), strict=True))
    assert set(held["agent"]) <= {f"noise-{i}" for i in range(1, 31)} | {"makers-1"}


def test_the_book_now_is_the_last_quote():
    market = corro.Market(small())
    assert market.book().levels is not None and len(market.quotes) >= 0
    for until in ("5s", "10s", "20s"):
        market.run(until)
        book = market.book(depth=1)
        quote = market.quotes.to_numpy()[-1]
        assert [book.bids["price"][0], book.asks["price"][0]] == [quote["bid_price"], quote["ask_price"]]
        assert book.time == market.now == market.scenario.start + np.timedelta64(int(until[:-1]), "s")


def test_configurations_and_results_survive_pickling():
    market = corro.Market(small())
    result = market.run("3s")
    assert pickle.loads(pickle.dumps(result)) == result
    scenario = pickle.loads(pickle.dumps(market.scenario))
    assert scenario == market.scenario and scenario.duration == market.scenario.duration
    assert corro.Market(scenario).run("3s") == result
    with pytest.raises(TypeError, match="pickle market.scenario"):
        pickle.dumps(market)


def test_markets_run_in_threads():
    expected = corro.Market(small()).run()
    found = []
    threads = [threading.Thread(target=lambda: found.append(corro.Market(small()).run())) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [expected] * 4


def test_the_gil_is_released():
    """Another thread counts while a market runs."""
    market = corro.Market(CALM, record=())
    counted = 0
    is_over = threading.Event()

    def count():
        nonlocal counted
        while not is_over.is_set():
            counted += 1

    other = threading.Thread(target=count)
    other.start()
    before = counted
    market.run()
    after = counted
    is_over.set()
    other.join()
    assert after > before


def test_ctrl_c_ends_a_run_that_then_goes_on():
    script = f"""
import corro, os, signal, threading
market = corro.Market({str(CALM)!r}, record=())
try:
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    market.run("100h")
except KeyboardInterrupt:
    print("interrupted")
again = corro.Market({str(CALM)!r}, record=())
reached = market.elapsed
again.run(reached)
print(market.result == again.result)
market.run(reached + 1_000_000)
"""
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=200)
    assert done.stdout == "interrupted\nTrue\n", done.stderr
    assert done.returncode == 0, done.stderr


def test_a_sweep_gives_the_results_of_single_runs_in_the_order_of_the_seeds():
    seeds = [4, 2, 9, 3]
    told = []
    found = corro.sweep(small(), seeds, jobs=3, progress=lambda done, of: told.append((done, of)))
    assert [each.seed for each in found] == seeds
    assert found == [corro.Market(small(), seed=seed).run() for seed in seeds]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert corro.sweep(small(), range(2), until="2s")[1] == corro.Market(small(), seed=1).run("2s")


def test_a_comparison_is_that_of_the_program(market_program, tmp_path):
    for name, speed in (("a", "0ns"), ("b", "20ms")):
        (tmp_path / f"{name}.toml").write_text(corro.scenario(small(name=name, speed_bump=speed)).text)
    call(market_program, "compare", tmp_path / "a.toml", tmp_path / "b.toml", "--seeds", "0:6", "--out", tmp_path / "out")
    table = (tmp_path / "out" / "comparison.md").read_text()
    found = corro.compare(tmp_path / "a.toml", tmp_path / "b.toml", seeds=range(6), jobs=2)
    assert len(found.a) == len(found.b) == 6
    printed = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    rows = found.metrics.to_numpy()
    assert [each[0] for each in printed[1:]] == [str(row["metric"]) for row in rows]
    for (name, a, b, difference, interval, p, differs), row in zip(printed[1:], rows, strict=True):
        assert [f"{row['a']:.5g}", f"{row['b']:.5g}", f"{row['difference']:+.4g}"] == [a, b, difference], name
        assert f"{row['low']:+.4g} to {row['high']:+.4g}" == interval
        assert f"{row['p_corrected']:.4f}" == p
        assert (str(name) in found.different) == (differs == "differs")
    assert str(found).splitlines()[0].split()[:3] == ["metric", "A", "B"]
    assert pickle.loads(pickle.dumps(found)).metrics == found.metrics


def test_a_worker_that_dies_is_an_error_not_a_hang(monkeypatch):
    import corro._sweep as sweeps

    monkeypatch.setattr(sweeps, "_WORKER", "import os; os._exit(9)")
    with pytest.raises(RuntimeError, match="seed .* ended with code 9"):
        corro.sweep(small(), range(3), jobs=2)


@measures_memory
def test_a_thousand_markets_leave_no_memory_behind():
    script = f"""
import corro
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
what = corro.scenario({small(duration="2s")!r})
def use(seed):
    market = corro.Market(what, seed=seed, record=("orders", "trades", "levels", "quotes"))
    market.run()
    return len(market.trades["price"]) + len(market.positions) + len(market.book().levels)
for seed in range(100): use(seed)
before = resident()
for seed in range(1000): use(seed)
growth = resident() - before
assert growth < 16 * 2**20, growth
"""
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr


WRONG = [
    (lambda: corro.Market("none.toml"), FileNotFoundError, "no such file; give a TOML file such as"),
    (lambda: corro.Market(SCENARIOS), IsADirectoryError, "folder without a scenario.toml"),
    (lambda: corro.Market(3), TypeError, "3 is no scenario; give a TOML file or a dictionary"),
    (lambda: corro.Market({}), corro.ConfigurationError, "market: is missing"),
    (lambda: corro.Market(small(duration="soon")), corro.ConfigurationError, r"dictionary:\d+: .*duration"),
    (lambda: corro.Market(small(colour="red")), corro.ConfigurationError, "colour"),
    (lambda: corro.Market(small(seed=None)), TypeError, "market.seed is None; a scenario has texts"),
    (lambda: corro.Market(small(seed=float("nan"))), ValueError, "market.seed is nan; give a finite number"),
    (lambda: corro.Market({1: 2}), TypeError, "keys are texts"),
    (lambda: corro.Market(small(), seed=-1), ValueError, "seeds are from 0"),
    (lambda: corro.Market(small(), seed="one"), TypeError, "a seed is an int"),
    (lambda: corro.Market(small(), record="trades"), TypeError, r"record=\(\"trades\",\)"),
    (lambda: corro.Market(small(), record=["colours"]), ValueError, 'no table .colours.; there are "orders"'),
    (lambda: corro.Market(small()).orders, ValueError, 'orders were not recorded; make the market with record='),
    (lambda: corro.Market(small()).run("3 s"), ValueError, 'until="3 s" is not a duration; give'),
    (lambda: corro.Market(small()).run(-1), ValueError, "from 0 to a week"),
    (lambda: corro.Market(small()).run(float("inf")), ValueError, "is not a duration"),
    (lambda: corro.Market(small()).run([1]), TypeError, "is not a duration"),
    (lambda: corro.Market(small()).run(np.timedelta64("NaT")), ValueError, "NaT"),
    (lambda: corro.Market(small()).step(0), ValueError, "a step needs time"),
    (lambda: corro.Market(small()).book("NONE"), ValueError, 'no instrument "NONE"; the venue has: ESZ6'),
    (lambda: corro.Market(SCENARIOS / "calendar.toml").book(), ValueError, "several instruments"),
    (lambda: corro.sweep(small(), 3), TypeError, r"range\(20\)"),
    (lambda: corro.sweep(small(), []), ValueError, "there are none"),
    (lambda: corro.sweep(small(), [1, 1]), ValueError, "there twice"),
    (lambda: corro.sweep(small(), [1], jobs=0), ValueError, "jobs=0: from 1"),
    (lambda: corro.compare(small(), small(), seeds=[1]), ValueError, "two seeds at least"),
]


@pytest.mark.parametrize("wrong", range(len(WRONG)))
def test_a_wrong_argument_is_answered_with_what_to_do(wrong):
    call_it, kind, message = WRONG[wrong]
    with pytest.raises(kind, match=message):
        call_it()


def test_a_market_does_not_go_back():
    market = corro.Market(small(), record=())
    market.run("3s")
    with pytest.raises(ValueError, match="until='2s' is past: the market is at 3 s; make a new Market"):
        market.run("2s")
    assert re.fullmatch(r"Market\('small', seed 5, at 3 s of 20 s, [\d,]+ commands, [\d,]+ trades\)", repr(market))


def test_a_fork_is_the_same_market_up_to_now():
    market = corro.Market(small(), seed=2)
    market.run("6s")
    same, halted = market.fork(), market.fork({"kind": "phase", "phase": "halted"})
    later = market.fork({"kind": "phase", "phase": "halted"}, at="12s", record=("trades",))
    assert {each.result.digest for each in (same, halted, later)} == {market.result.digest}
    expected = market.run()
    assert same.run() == expected
    assert halted.run().trades < later.run().trades < expected.trades
    assert halted.trades["time"].max() <= market.scenario.start + np.timedelta64(6_001, "ms")


def test_a_fork_that_cannot_be_is_refused():
    market = corro.Market(small(), seats=["me"])
    market.run("2s")
    assert market.fork().result.digest == market.result.digest
    market.seat("me").buy(1)
    market.run("4s")
    with pytest.raises(RuntimeError, match="requests of seats are not repeated"):
        market.fork()
    for options, kind, message in (({"event": {"kind": "phase", "phase": "halted"}, "at": "1s"}, ValueError, "is past"),
                                   ({"at": "8s"}, ValueError, "give an event"), ({"event": "halt"}, TypeError, "give a dictionary"),
                                   ({"event": {"kind": "flood"}}, corro.ConfigurationError, "the fork of scenario from a dictionary.*flood")):
        with pytest.raises(kind, match=message):
            market.fork(**options)


def test_a_fork_finds_the_files_of_its_scenario(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    for name in ("announcement.toml", "announcement.csv"):
        shutil.copy(SCENARIOS / name, tmp_path)
    monkeypatch.chdir(tmp_path / "elsewhere")
    market = corro.Market("../announcement.toml", seed=1)
    market.run("5s")
    fork = market.fork({"kind": "phase", "phase": "halted"})
    assert fork.run("10s").trades < market.run("10s").trades


def test_a_fork_takes_the_time_of_its_event():
    market = corro.Market(small(), seed=2)
    market.run("6s")
    event = {"kind": "phase", "phase": "halted"}
    assert market.fork({**event, "at": "12s"}).run("15s") == market.fork(event, at="12s").run("15s")
    with pytest.raises(ValueError, match="the event has a time of its own, '12s'; give one of them"):
        market.fork({**event, "at": "12s"}, at="13s")
    with pytest.raises(ValueError, match="at='1s' is past"):
        market.fork({**event, "at": "1s"})


def test_a_fork_is_refused_while_requests_of_seats_are_under_way():
    market = corro.Market(small(), seats=["me"])
    market.run("2s")
    market.seat("me").buy(1, 1000)
    with pytest.raises(RuntimeError, match='seat "me" has requests under way'):
        market.fork()


def test_a_market_is_made_once():
    market = corro.Market(small(), seed=2)
    with pytest.raises(RuntimeError, match="make another Market"):
        market.__init__(small())


def test_a_sweep_in_a_folder_knows_the_files_of_its_scenario(tmp_path):
    for name in ("announcement.toml", "announcement.csv"):
        shutil.copy(SCENARIOS / name, tmp_path)
    first = corro.sweep(tmp_path / "announcement.toml", [1], until="2s", jobs=1, folder=tmp_path / "kept")
    assert corro.sweep(tmp_path / "announcement.toml", [1], until="2s", jobs=1, folder=tmp_path / "kept") == first
    with (tmp_path / "announcement.csv").open("a") as file:
        file.write("3599,2600\n")
    with pytest.raises(ValueError, match="different: files\\); give another folder"):
        corro.sweep(tmp_path / "announcement.toml", [1], until="2s", jobs=1, folder=tmp_path / "kept")


def test_a_damaged_sweep_is_named(tmp_path):
    kept = tmp_path / "kept"
    corro.sweep(small(), [1, 2], until="1s", jobs=1, folder=kept)
    lines = (kept / "results.jsonl").read_text().splitlines()
    (kept / "results.jsonl").write_text(f"{lines[0][:40]}\n{lines[1]}\n")
    with pytest.raises(ValueError, match=r"results.jsonl:1: is damaged; remove the line"):
        corro.sweep(small(), [1, 2], until="1s", jobs=1, folder=kept)
    manifest = (kept / "sweep.json").read_text()
    (kept / "sweep.json").write_text("")
    with pytest.raises(ValueError, match="sweep.json: is damaged; remove the folder"):
        corro.sweep(small(), [1], until="1s", jobs=1, folder=kept)
    (kept / "sweep.json").unlink()
    with pytest.raises(ValueError, match="has results, but no sweep.json"):
        corro.sweep(small(), [1], until="1s", jobs=1, folder=kept)
    before = json.loads(manifest)
    del before["files"]  # as an earlier version wrote it
    (kept / "sweep.json").write_text(json.dumps(before))
    (kept / "results.jsonl").write_text(f"{lines[0]}\n")
    assert len(corro.sweep(small(), [1, 2], until="1s", jobs=1, folder=kept)) == 2


def test_a_sweep_in_a_folder_continues_where_it_was_interrupted(tmp_path):
    expected = corro.sweep(small(), range(5), until="2s", jobs=2)
    seen = []

    def interrupt(done, count):
        seen.append((done, count))
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corro.sweep(small(), range(5), until="2s", jobs=2, progress=interrupt, folder=tmp_path / "kept")
    with (tmp_path / "kept" / "results.jsonl").open("a") as file:
        file.write('{"scenario": "cut')
    seen.clear()
    again = corro.sweep(small(), range(5), until="2s", jobs=2, folder=tmp_path / "kept",
                        progress=lambda done, count: seen.append((done, count)))
    assert again == expected and seen == [(3, 5), (4, 5), (5, 5)]
    assert corro.sweep(small(), [4, 1], until="2s", folder=tmp_path / "kept") == [expected[4], expected[1]], "nothing runs"
    for options, message in (({"until": "3s"}, "different: until_ns"), ({"source": small(duration="9s"), "until": "2s"}, "different: scenario")):
        with pytest.raises(ValueError, match=message):
            corro.sweep(**{"source": small(), "seeds": [1], "folder": tmp_path / "kept", **options})


def test_a_comparison_in_a_folder_is_the_same(tmp_path):
    variant = small()
    variant["agents"][1]["lots"] = 9
    expected = corro.compare(small(), variant, seeds=[1, 2], until="1s", jobs=1)
    kept = corro.compare(small(), variant, seeds=[1, 2], until="1s", jobs=1, folder=tmp_path)
    assert (kept.a, kept.b, kept.metrics) == (expected.a, expected.b, expected.metrics)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b"]


def test_agents_trade_in_a_recorded_day():
    def day(policy):
        files = [str(RECORDED / name) for name in ("mini_message_2.csv", "mini_orderbook_2.csv")]
        return {"market": {"name": "day"}, "recording": {"files": files, "policy": policy},
                "agents": [{"group": "taker", "kind": "twap", "lots": 2, "duration": "2ms", "slice": "1ms"}]}

    for policy in ("what_is_left", "same_orders", "scaled", "refilled"):
        market = corro.Market(day(policy), seed=1)
        assert [each.name for each in market.scenario.instruments] == ["mini"]
        result = market.run()
        assert result.metrics["recorded_requests"] > 5 and len(market.trades) == result.trades
        assert result.metrics["departures.taken_by_agents_lots"] == market.positions["position"].sum() == 2
        assert corro.Market(day(policy), seed=1).run() == result
    with pytest.raises(corro.ConfigurationError, match="policy"):
        corro.scenario(day("hopeful"))


def test_a_sweep_by_ray_is_that_of_processes(tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed (pip install corro[ray])")
    told = []
    try:
        got = corro.sweep(small(), [3, 1, 2], until="2s", jobs=2, runner="ray", progress=lambda done, of: told.append((done, of)),
                          folder=tmp_path)
    finally:
        ray.shutdown()
    assert got == corro.sweep(small(), [3, 1, 2], until="2s", jobs=2) and told == [(1, 3), (2, 3), (3, 3)]


def test_a_sweep_names_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "corro._ray", raising=False)
    with pytest.raises(ImportError, match=r"pip install corro\[ray\]"):
        corro.sweep(small(), [1], runner="ray")
    with pytest.raises(ValueError, match="runner='threads': 'processes' or 'ray'"):
        corro.compare(small(), small(), runner="threads")
