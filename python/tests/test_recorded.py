# SPDX-License-Identifier: Apache-2.0
"""Recorded order flow as frames."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from conftest import RECORDED

import corro


@pytest.mark.parametrize("version", [1, 2, 3])
def test_dbn_files_of_all_versions_have_the_same_records(version):
    flow = corro.dbn(RECORDED / f"mini.v{version}.mbo.dbn")
    assert len(flow) > 0
    assert flow.columns == [
        "event_time", "receive_time", "publisher_id", "instrument_id", "action", "side", "price", "size", "order_id",
        "flags", "channel_id", "sequence"]
    assert set(flow["action"]) <= set("ACMRTFN") and set(flow["side"]) <= set("ABN")
    assert flow["event_time"].dtype == "datetime64[ns]"
    one = int(flow["instrument_id"][0])
    chosen = corro.dbn(RECORDED / f"mini.v{version}.mbo.dbn", instrument=one)
    assert len(chosen) == (flow["instrument_id"] == one).sum()
    for name in ("order_id", "price", "size", "action"):
        assert np.array_equal(flow[name], corro.dbn(RECORDED / "mini.v1.mbo.dbn")[name], equal_nan=name == "price")


def test_dbn_definitions_have_names_and_ticks():
    known = corro.dbn_definitions(RECORDED / "mini.definition.dbn")
    assert len(known) > 0
    assert all(known["symbol"]) and (known["tick_size"] > 0).all()


def test_lobster_messages_and_books_go_together():
    path = RECORDED / "mini_message_2.csv"
    flow = corro.lobster(path)
    lines = [line.split(",") for line in path.read_text().splitlines() if line and line[0].isdigit()]
    assert len(flow) == len(lines)
    assert flow["time"].dtype == "timedelta64[ns]"
    assert flow["order_id"].tolist() == [int(line[2]) for line in lines]
    priced = [place for place, line in enumerate(lines) if line[1] != "7"]
    assert [flow["price"][i] for i in priced] == [int(lines[i][4]) / 10_000 for i in priced]
    assert [flow["side"][i] for i in priced] == ["buy" if lines[i][5] == "1" else "sell" for i in priced]
    book = corro.lobster_book(RECORDED / "mini_orderbook_2.csv")
    assert len(book) == len(flow)
    assert book.columns[:4] == ["ask_price_1", "ask_size_1", "bid_price_1", "bid_size_1"]
    both = ~np.isnan(book["ask_price_1"]) & ~np.isnan(book["bid_price_1"])
    assert (book["ask_price_1"][both] > book["bid_price_1"][both]).all()


def test_an_exported_market_comes_back_as_lobster(corro_program, recorded_run, tmp_path):
    from conftest import call

    call(corro_program, "export", "--config", recorded_run / "venue.toml", "--format", "lobster", "--depth", 3, tmp_path)
    (messages,) = tmp_path.glob("*_message_3.csv")
    (books,) = tmp_path.glob("*_orderbook_3.csv")
    flow, book = corro.lobster(messages), corro.lobster_book(books)
    assert len(flow) == len(book) > 0
    executed = flow["event"] == "visible_execution"
    assert flow["size"][executed].sum() == corro.journal(recorded_run).trades()["quantity"].sum()


def test_itch_files_may_be_packed_and_filtered():
    flow = corro.itch(RECORDED / "mini.itch")
    assert flow == corro.itch(RECORDED / "mini.itch.gz")
    assert len(flow) > 0
    stock = flow["stock"][0]
    assert stock
    chosen = corro.itch(RECORDED / "mini.itch", stock=str(stock))
    assert len(chosen) == (flow["stock"] == stock).sum()
    assert np.isnan(flow["price"][flow["event"] == "cancelled"]).all()


WRONG = [
    (lambda folder: corro.dbn(folder), IsADirectoryError, "is a folder; give a file"),
    (lambda folder: corro.dbn(folder / "none"), FileNotFoundError, "no such file"),
    (lambda folder: corro.dbn(RECORDED / "mini.itch"), corro.DataError, "mini.itch: "),
    (lambda folder: corro.dbn(RECORDED / "mini.v1.mbo.dbn", instrument="ES"), TypeError, "corro.dbn_definitions"),
    (lambda folder: corro.dbn(RECORDED / "mini.v1.mbo.dbn", instrument=-1), ValueError, "32 bits"),
    (lambda folder: corro.lobster(RECORDED / "mini_orderbook_2.csv"), corro.DataError, r"line \d+"),
    (lambda folder: corro.itch(RECORDED / "mini.itch", stock="NONE"), ValueError, 'no message about the stock "NONE"'),
    (lambda folder: corro.itch(RECORDED / "mini.itch", stock=""), ValueError, "the name of a stock"),
    (lambda folder: corro.itch(RECORDED / "mini_message_2.csv"), corro.DataError, "mini_message_2.csv"),
    (lambda folder: corro.lobster(3), TypeError, "int"),
]


@pytest.mark.parametrize("wrong", range(len(WRONG)))
def test_a_wrong_argument_is_answered_with_what_to_do(tmp_path, wrong):
    call_it, kind, message = WRONG[wrong]
    with pytest.raises(kind, match=message):
        call_it(tmp_path)


def test_a_file_that_was_cut_off_is_an_error_with_its_place(tmp_path):
    whole = (RECORDED / "mini.v3.mbo.dbn").read_bytes()
    (tmp_path / "cut.dbn").write_bytes(whole[:-10])
    with pytest.raises(corro.DataError, match=r"cut.dbn: byte \d+"):
        corro.dbn(tmp_path / "cut.dbn")
    (tmp_path / "cut.dbn.gz").write_bytes(gzip.compress(whole)[:-10])
    with pytest.raises(corro.DataError, match="cut.dbn.gz"):
        corro.dbn(tmp_path / "cut.dbn.gz")
