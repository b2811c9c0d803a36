# SPDX-License-Identifier: Apache-2.0
"""Journals: frames are what `corro export` writes, books what `corro book` prints."""

from __future__ import annotations

import csv
import datetime
import math
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import ROOT, call

import corro

DEMO = ROOT / "config" / "demo.toml"
FLAGS = {"aggressor"}


def text_of(value: object) -> str:
    """A value of a frame as `corro export` writes it; numbers as the nearest double."""
    if isinstance(value, np.datetime64):
        return f"{value}Z"
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else repr(float(value))
    return str(value)


def rows_of(frame: corro.Frame) -> list[list[str]]:
    return [list(row) for row in zip(*([text_of(v) for v in frame[name]] for name in frame.columns), strict=True)]


def exported(path: pathlib.Path, frame: corro.Frame) -> list[list[str]]:
    """The lines of an exported file, prices as doubles, and what a frame has as 0 where the file is empty."""
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == frame.columns
    made = []
    for line in lines[1:]:
        row = []
        for name, text in zip(lines[0], line, strict=True):
            if name in ("price", "trigger_price") and text:
                row.append(repr(float(text)))
            elif not text and frame._meaning(name) == "number" and frame[name].dtype.kind in "ui":
                row.append("0")
            else:
                row.append(text)
        made.append(row)
    return made


@pytest.mark.parametrize("options", [{}, {"instrument": "CLF7"}, {"first": 5_000, "last": 9_000}])
def test_frames_are_what_the_program_exports(corro_program, generated, tmp_path, options):
    arguments = []
    for name, option in (("instrument", "--instrument"), ("first", "--from"), ("last", "--to")):
        if name in options:
            arguments += [option, options[name]]
    call(corro_program, "export", "--config", DEMO, "--journal", generated, *arguments, tmp_path)
    day = corro.journal(generated, config=DEMO)
    orders, trades, levels, quotes = day.read(**options)
    for frame, name in ((orders, "orders"), (trades, "trades"), (levels, "levels")):
        assert len(frame) > 100
        assert rows_of(frame) == exported(tmp_path / f"{name}.csv", frame)
    assert day.orders(**options) == orders
    assert day.trades(**options) == trades
    assert day.levels(**options) == levels
    assert day.quotes(**options) == quotes


def test_a_range_of_times_has_its_ends(generated):
    day = corro.journal(generated, config=DEMO)
    times = day.trades()["time"]
    start, end = times[40], times[-40]
    inside = times[(times >= start) & (times <= end)]
    assert np.array_equal(day.trades(start=start, end=end)["time"], inside)
    assert np.array_equal(day.trades(start=int(start.astype(int)), end=str(end))["time"], inside)
    at = datetime.datetime.fromtimestamp(int(start.astype(int)) // 10**9, tz=datetime.timezone.utc)
    assert day.trades(start=at)["time"][0] >= np.datetime64(at.replace(tzinfo=None))


def test_times_of_pandas_keep_their_nanoseconds(generated):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    trades = corro.journal(generated, config=DEMO).trades()
    day = corro.journal(generated, config=DEMO)
    at = next(each for each in trades["time"] if int(each.astype(int)) % 1000)
    for stamp in (pandas.Timestamp(at, tz="UTC"), pandas.Timestamp(at, tz="UTC").tz_convert("Asia/Tokyo")):
        assert np.array_equal(day.trades(start=stamp, end=stamp)["time"], trades["time"][trades["time"] == at])
        assert day.book_at(stamp, "CLF7").sequence == day.book_at(at, "CLF7").sequence


def test_a_book_is_what_the_program_prints(corro_program, generated):
    day = corro.journal(generated, config=DEMO)
    printed = call(corro_program, "book", "--config", DEMO, "--journal", generated, "--at", 12_345, "--instrument", "CLF7",
                   "--depth", 5).splitlines()
    book = day.book_at(sequence=12_345, instrument="CLF7", depth=5)
    assert book.sequence == 12_345
    assert f"after command 12345 at {book.time}Z" in printed[0]
    assert f"CLF7   last {book.last:g}" in printed[2]
    assert f"volume {book.volume}  open interest {book.open_interest}" in printed[2]
    bids, asks = book.bids, book.asks
    for place, line in enumerate(printed[4:]):
        left, right = (side.split() for side in line.split("|"))
        assert [int(left[0]), int(left[1]), float(left[2])] == [
            bids["orders"][place], bids["quantity"][place], bids["price"][place]]
        assert [float(right[0]), int(right[1]), int(right[2])] == [
            asks["price"][place], asks["quantity"][place], asks["orders"][place]]
    assert len(bids["price"]) == len(asks["price"]) == 5
    assert book.spread == pytest.approx(asks["price"][0] - bids["price"][0])
    assert bids["price"][0] < book.mid < asks["price"][0]


def test_levels_of_the_feed_add_up_to_the_book(generated):
    day = corro.journal(generated, config=DEMO)
    levels = day.levels("ESZ6")
    book = {}
    for side, price, quantity in zip(levels["side"], levels["price"], levels["quantity"], strict=True):
        book[(side, price)] = quantity
    end = day.book_at(instrument="ESZ6", orders=True)
    shown = {(s, p): q for s, p, q in zip(end.levels["side"], end.levels["price"], end.levels["quantity"], strict=True)}
    assert shown == {key: quantity for key, quantity in book.items() if quantity}
    assert end.orders["open"].sum() >= end.levels["quantity"].sum(), "orders show at most what is open"
    assert len(end.orders) == end.levels["orders"].sum()


def test_an_index_changes_no_answer(generated, tmp_path):
    folder = tmp_path / "journal"
    shutil.copytree(generated, folder)
    day = corro.journal(folder, config=DEMO)
    made = day.make_index(every=1_000)
    assert made.commands == 20_000
    assert made.snapshots == made.snapshots_written > 0
    assert day.make_index(every=1_000).snapshots_written == 0
    plain = corro.journal(folder, config=DEMO, index=False)
    for sequence in (1, 999, 1_000, 1_001, 7_777, 20_000):
        indexed, full = (each.book_at(sequence=sequence, instrument="ESZ6") for each in (day, plain))
        assert repr(indexed) == repr(full)  # NaN is not equal to itself
        assert indexed.levels == full.levels


def test_a_runs_folder_is_enough_even_moved(recorded_run, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(recorded_run, moved)
    day = corro.journal(moved)
    assert day.directory == moved / "journal"
    assert day.trades() == corro.journal(recorded_run / "venue.toml").trades()
    assert day.trades() == corro.journal(moved / "journal").trades()
    assert len(day.trades()) > 0
    (only,) = day.instruments
    assert only.decimals == 2 and only.kind == "future" and only.expiry is None
    assert only.name in repr(day)


def test_threads_may_share_a_journal(generated):
    day = corro.journal(generated, config=DEMO)
    expected = day.trades()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(day.trades())) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert answers == [expected] * 4


def test_ctrl_c_ends_a_query_and_the_journal_stays_usable(corro_program, tmp_path):
    journal = tmp_path / "journal"
    call(corro_program, "generate", "--config", DEMO, "--commands", 400_000, "--seed", 1, journal)
    script = f"""
import corro, os, signal, threading, time
day = corro.journal({str(journal)!r}, config={str(DEMO)!r})
try:
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        day.read()
except KeyboardInterrupt:
    print("interrupted")
print(day.book_at(sequence=1000, instrument="ESZ6").sequence)
"""
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=120)
    assert done.stdout == "interrupted\n1000\n", done.stderr
    assert done.returncode == 0
    assert signal.getsignal(signal.SIGINT) is not None


WRONG = [
    (lambda day: day.orders("NONE"), ValueError, r'no instrument "NONE"; the venue has: .*ESZ6'),
    (lambda day: day.orders(3), TypeError, "give the instrument's name"),
    (lambda day: day.orders(""), ValueError, "leave it out"),
    (lambda day: day.trades(start="yesterday"), ValueError, r'start="yesterday" is not a time; write UTC as'),
    (lambda day: day.trades(start="2026-02-31"), ValueError, 'start="2026-02-31" is not a time'),
    (lambda day: day.trades(start=1.5), TypeError, "start=1.5: give nanoseconds"),
    (lambda day: day.trades(start=True), TypeError, "start=True"),
    (lambda day: day.trades(start=2**63), ValueError, "beyond 64 bits"),
    (lambda day: day.trades(start=[1]), TypeError, "give a text such as"),
    (lambda day: day.trades(start=np.datetime64("NaT")), ValueError, "NaT"),
    (lambda day: day.trades(start=np.datetime64("9999-01-01")), ValueError, "beyond the year 2262"),
    (lambda day: day.trades(start="9999-01-01"), ValueError, "years from 1678 to 2261"),
    (lambda day: day.trades(end=datetime.datetime(2026, 1, 1)), ValueError, "has no time zone; add one"),
    (lambda day: day.trades(start=1, first=1), ValueError, "give start .* or first .*, not both"),
    (lambda day: day.trades(end=1, last=1), ValueError, "give end .* or last .*, not both"),
    (lambda day: day.trades(first=-1), ValueError, "first=-1: sequence numbers are from 0"),
    (lambda day: day.trades(first="1"), TypeError, "a sequence number is an int"),
    (lambda day: day.trades(first=9, last=5), ValueError, "ends before it starts"),
    (lambda day: day.trades(start="2026-01-06", end="2026-01-05"), ValueError, "ends before it starts"),
    (lambda day: day.book_at(), ValueError, "several instruments; give one as instrument="),
    (lambda day: day.book_at(sequence=10**9, instrument="ESZ6"), corro.DataError, "ends with sequence number 20000"),
    (lambda day: day.book_at(1, sequence=1, instrument="ESZ6"), ValueError, "not both"),
    (lambda day: day.book_at(instrument="ESZ6", depth=0), ValueError, "depth=0: from 1"),
    (lambda day: day.book_at(instrument="ESZ6", depth="all"), TypeError, "give a number of levels"),
    (lambda day: day.make_index(10), ValueError, "every=10: from 100"),
    (lambda day: day.make_index("often"), TypeError, "give a number of commands"),
    (lambda day: day.trades()["colour"], KeyError, "no column .*colour.*; there are: sequence, time"),
    (lambda day: day.trades().codes("price"), TypeError, 'column "price" has no texts'),
    (lambda day: corro.journal("/nowhere"), FileNotFoundError, "no such file or folder"),
    (lambda day: corro.journal(ROOT, config="/nowhere.toml"), FileNotFoundError, "config=/nowhere.toml"),
    (lambda day: corro.journal(ROOT), ValueError, "give the configuration .* as config="),
    (lambda day: corro.journal(ROOT, config=DEMO), corro.DataError, "holds no journal; name the folder"),
    (lambda day: corro.journal(DEMO, config=DEMO), ValueError, "with config=, name the folder"),
    (lambda day: corro.journal(DEMO), (ValueError, corro.DataError), "journal"),
    (lambda day: corro.journal(ROOT / "README.md"), corro.ConfigurationError, r"README.md:\d+"),
    (lambda day: corro.journal(day.directory, config=DEMO, partition="x"), ValueError, "has no partitions; leave it out"),
    (lambda day: corro.journal(day.directory, config=DEMO, partition=1), TypeError, "the name of a partition"),
    (lambda day: corro.journal(day.directory, config=ROOT / "config" / "partitions.toml"), ValueError,
     "choose one with partition=, of: "),
]


@pytest.mark.parametrize("wrong", range(len(WRONG)))
def test_a_wrong_argument_is_answered_with_what_to_do(generated, wrong):
    call_it, kind, message = WRONG[wrong]
    with pytest.raises(kind, match=message):
        call_it(corro.journal(generated, config=DEMO))


def test_another_venues_journal_is_refused(generated, recorded_run):
    with pytest.raises(corro.DataError, match="venue"):
        corro.journal(generated, config=recorded_run / "venue.toml")


def test_lobster_files_are_what_the_program_writes_and_the_readers_read(corro_program, generated, tmp_path):
    call(corro_program, "export", "--config", DEMO, "--journal", generated, "--format", "lobster", "--depth", 5, "--instrument", "CLF7",
         tmp_path / "program")
    day = corro.journal(generated, config=DEMO)
    files = day.to_lobster(tmp_path / "package", "CLF7", depth=5)
    assert [each.name for each in files] == sorted(each.name for each in (tmp_path / "program").iterdir())
    for each in files:
        assert each.read_bytes() == (tmp_path / "program" / each.name).read_bytes()
    assert day.to_lobster(tmp_path / "package", "CLF7", depth=7)[0].name not in [each.name for each in files]
    assert day.to_lobster(tmp_path / "package", "CLF7", depth=5) == files, "and no file of another export"
    assert not [each for each in (tmp_path / "package").iterdir() if each.name.startswith(".")]
    messages, books = corro.lobster(files[0]), corro.lobster_book(files[1])
    assert len(messages) == len(books) > 1000
    with pytest.raises(ValueError, match='no instrument "NONE"'):
        day.to_lobster(tmp_path / "package", "NONE")
    with pytest.raises(NotADirectoryError, match="is a file; give a folder"):
        day.to_lobster(files[0], "CLF7")


def test_parquet_has_a_row_group_for_each_snapshot(generated, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    day = corro.journal(generated, config=DEMO)
    files = day.to_parquet(tmp_path / "tables", every=1000)
    assert [each.name for each in files] == ["orders.parquet", "trades.parquet", "levels.parquet", "quotes.parquet"]
    for path, frame in zip(files, day.read(), strict=True):
        file = parquet.ParquetFile(path)
        assert file.read().equals(frame.to_arrow())
        groups = [file.metadata.row_group(i).column(0) for i in range(file.metadata.num_row_groups)]
        assert len(groups) > 5 and {each.compression for each in groups} == {"ZSTD"}
        blocks = [((each.statistics.min - 1) // 1000, (each.statistics.max - 1) // 1000) for each in groups]
        assert all(first == last for first, last in blocks) and len(set(blocks)) == len(blocks)


def test_duckdb_has_the_tables(generated):
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    day = corro.journal(generated, config=DEMO)
    trades = day.trades("CLF7")
    found = day.duckdb().sql("select count(*), sum(quantity), max(time) from trades where instrument = 'CLF7'").fetchall()[0]
    assert found[:2] == (len(trades), trades["quantity"].sum())
    assert np.datetime64(found[2].replace(tzinfo=None), "us") == trades["time"].max().astype("datetime64[us]")
