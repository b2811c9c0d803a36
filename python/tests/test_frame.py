# SPDX-License-Identifier: Apache-2.0
"""Frames in NumPy, and in what takes Arrow."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import measures_memory

import corro


@pytest.fixture(scope="module")
def orders(recorded_run):
    return corro.journal(recorded_run).orders()


@pytest.fixture(scope="module")
def trades(recorded_run):
    return corro.journal(recorded_run).trades()


def test_columns_are_numpy_arrays_of_the_frames_memory(trades):
    assert trades["time"].dtype == "datetime64[ns]"
    assert trades["price"].dtype == np.float64
    assert trades["aggressor"].dtype.kind == "U"
    assert set(trades["aggressor"]) == {"buy", "sell"}
    assert np.shares_memory(trades["price"], trades["price"])
    with pytest.raises(ValueError, match="read-only"):
        trades["price"][0] = 1
    assert len(trades) == len(trades["price"]) > 0
    assert list(trades) == trades.columns and "price" in trades and "colour" not in trades
    assert {name: len(values) for name, values in dict(trades).items()} == dict.fromkeys(trades.columns, len(trades))


def test_an_array_outlives_its_frame(recorded_run):
    frame = corro.journal(recorded_run).trades()
    price = frame["price"]
    expected = price.tolist()
    del frame
    assert price.tolist() == expected


def test_a_structured_array_has_all_columns(trades):
    rows = trades.to_numpy()
    assert rows.dtype.names == tuple(trades.columns)
    assert np.array_equal(rows["price"], trades["price"])
    assert rows[0]["instrument"] == trades["instrument"][0]


def test_a_missing_value_is_nan_or_empty_or_null(orders):
    entered = orders["event"] == "entered"
    assert np.isnan(orders["trigger_price"]).all()
    assert set(orders["type"][entered]) == {""}
    assert (orders.codes("type")[entered] == -1).all()
    assert orders["aggressor"].dtype == np.bool_


def test_a_frame_survives_pickling(orders):
    again = pickle.loads(pickle.dumps(orders))
    assert again == orders
    assert again.columns == orders.columns
    assert again != corro.Frame(again._columns).__class__


def test_a_repr_shows_columns_and_first_values(trades):
    shown = repr(trades)
    assert shown.startswith(f"Frame of {len(trades):,} rows, 11 columns")
    assert str(trades["price"][0]) in shown


def check_table(frame, names, column):
    """Compares every column, given as a list of Python values or None."""
    assert names == frame.columns
    for name in names:
        values = frame[name]
        expected = [None if v == "" or v != v else v for v in values.tolist()]
        got = column(name)
        if values.dtype.kind == "M":
            got = [None if each is None else int(each) for each in got]
        assert got == expected, name


def test_pyarrow_takes_a_frame(orders):
    pyarrow = pytest.importorskip("pyarrow")
    table = orders.to_arrow()
    table.validate(full=True)
    check_table(orders, table.column_names,
                lambda name: table[name].cast("int64").to_pylist() if name == "time" else table[name].to_pylist())
    assert table.schema.field("time").type == pyarrow.timestamp("ns", "UTC")
    numbers = table["quantity"].chunk(0)
    assert numbers.buffers()[1].address == orders["quantity"].__array_interface__["data"][0], "without a copy"
    assert pyarrow.schema(orders) == table.schema


def test_polars_takes_a_frame(orders):
    polars = pytest.importorskip("polars")
    table = orders.to_polars()
    check_table(orders, table.columns,
                lambda name: table[name].to_physical().to_list() if name == "time" else table[name].to_list())
    assert table["time"].dtype == polars.Datetime("ns", "UTC")


def test_pandas_takes_a_frame(orders):
    pytest.importorskip("pandas")
    table = orders.to_pandas()
    assert list(table.columns) == orders.columns
    assert np.array_equal(table["price"].to_numpy(), orders["price"], equal_nan=True)
    assert str(table["time"].dtype) == "datetime64[ns, UTC]"
    assert table["type"].isna().sum() == (orders["type"] == "").sum()
    assert table["event"].tolist() == orders["event"].tolist()


def test_duckdb_queries_a_frame(trades):
    duckdb = pytest.importorskip("duckdb")
    if "pyarrow" not in sys.modules:
        pytest.importorskip("pyarrow")
    found = duckdb.sql("select count(*), sum(quantity), min(price) from trades").fetchall()
    assert found[0] == (len(trades), trades["quantity"].sum(), trades["price"].min())


def test_parquet_keeps_every_value(orders, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    orders.to_parquet(tmp_path / "orders.parquet")
    assert parquet.read_table(tmp_path / "orders.parquet").num_rows == len(orders)
    assert parquet.read_metadata(tmp_path / "orders.parquet").row_group(0).column(0).compression == "ZSTD"


def test_an_empty_frame_goes_everywhere(recorded_run):
    empty = corro.journal(recorded_run).trades(first=0, last=0)
    assert len(empty) == 0
    assert len(empty.to_numpy()) == 0
    for library in ("pyarrow", "polars", "pandas"):
        pytest.importorskip(library)
    assert empty.to_arrow().num_rows == empty.to_polars().height == len(empty.to_pandas()) == 0
    assert pickle.loads(pickle.dumps(empty)) == empty


@measures_memory
def test_frames_are_freed(recorded_run):
    script = f"""
import corro
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
day = corro.journal({str(recorded_run)!r})
def use():
    frame = day.orders()
    stream = frame.__arrow_c_stream__()
    return sum(len(frame[name]) for name in frame.columns)
for _ in range(10): use()
before = resident()
for _ in range(50): use()
growth = resident() - before
size = sum(values.nbytes for values in dict(day.orders()).values())
assert growth < 10 * size + 2**20, (growth, size)
"""
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_importing_is_quick_and_needs_numpy_alone():
    script = "import sys, corro; print([m for m in ('pandas', 'polars', 'pyarrow', 'duckdb') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
