#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small recorded market below src/recorded/testdata, the same one in each format that is read.

    make_recorded_fixtures.py           writes the files
    make_recorded_fixtures.py --check   says whether the committed files are what would be written

The market: one instrument, MINI, priced in steps of 0.01; all at 10:00:00 and some milliseconds.

    1  order 1 buys 100 at 10.00            5  order 1 is cut down to 60
    2  order 2 sells 50 at 10.02            6  order 4 buys 30 at 10.01
    3  order 3 sells 70 at 10.02            7  order 4 is cancelled
    4  a buyer takes 60 at 10.02: all       8  order 1 is cancelled
       of order 2, then 10 of order 3
"""

import gzip
import pathlib
import struct
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "src/recorded/testdata"
TEN_O_CLOCK_NS = 36_000_000_000_000
DAY_NS = 1_704_067_200_000_000_000  # 2024-01-01
INSTRUMENT = 42


def time_ns(step):
    return TEN_O_CLOCK_NS + step * 1_000_000 + step


def dbn_head(version, schema):
    width = 22 if version == 1 else 71
    symbol = lambda text: text.encode().ljust(width, b"\0")
    body = b"CORRO.MINI".ljust(16, b"\0") + struct.pack("<HQQQ", schema, DAY_NS, DAY_NS + 86_400_000_000_000, 0)
    if version == 1:
        body += b"\xff" * 8
    body += bytes([1, 0, 0])
    if version > 1:
        body += struct.pack("<H", width)
    body += bytes(47 if version == 1 else 53) + bytes(4)
    body += struct.pack("<I", 1) + symbol("MINI") + bytes(8)
    body += struct.pack("<I", 1) + symbol("MINI") + struct.pack("<III", 1, 20240101, 20240102) + symbol(str(INSTRUMENT))
    if version == 3:
        body += bytes(-len(body) % 8)
    return b"DBN" + bytes([version]) + struct.pack("<I", len(body)) + body


def dbn_order(step, action, side, order, cents, size, last=True):
    event = DAY_NS + time_ns(step)
    return struct.pack("<BBHIQQqIBBccQiI", 14, 0xA0, 1, INSTRUMENT, event, order, cents * 10_000_000, size,
                       0x80 if last else 0, 0, action.encode(), side.encode(), event + 1_000, 500, step)


def dbn_orders(version):
    return dbn_head(version, 0) + b"".join([
        dbn_order(1, "A", "B", 1, 1000, 100),
        dbn_order(2, "A", "A", 2, 1002, 50),
        dbn_order(3, "A", "A", 3, 1002, 70),
        dbn_order(4, "T", "B", 0, 1002, 60, False),
        dbn_order(4, "F", "A", 2, 1002, 50, False),
        dbn_order(4, "F", "A", 3, 1002, 10, False),
        dbn_order(4, "C", "A", 2, 1002, 50, False),
        dbn_order(4, "M", "A", 3, 1002, 60),
        dbn_order(5, "M", "B", 1, 1000, 60),
        dbn_order(6, "A", "B", 4, 1001, 30),
        dbn_order(7, "C", "B", 4, 1001, 30),
        dbn_order(8, "C", "B", 1, 1000, 60),
    ])


def dbn_definition():
    """Version 3; only the fields that an exchange needs to list the instrument."""
    none_price, none_time = struct.pack("<q", 2**63 - 1), b"\xff" * 8
    record = bytearray(520)
    record[0:16] = struct.pack("<BBHIQ", 130, 0x13, 1, INSTRUMENT, DAY_NS)
    record[16:24] = struct.pack("<Q", DAY_NS)
    record[24:40] = struct.pack("<qq", 10_000_000, 1_000_000_000)  # least price increment, display factor
    record[40:56] = struct.pack("<QQ", DAY_NS + 90 * 86_400_000_000_000, DAY_NS)
    for offset in (56, 64, 72, 104, 120):
        record[offset:offset + 8] = none_price
    record[112:120] = struct.pack("<Q", INSTRUMENT)
    record[160:164] = struct.pack("<i", 1)
    for offset, text in ((224, "USD"), (238, "MINI"), (309, "MI"), (330, "CORR"), (335, "MINI"), (346, "FXXXXX"),
                         (353, "FUT")):
        record[offset:offset + len(text)] = text.encode()
    record[214:216] = struct.pack("<H", 2024)
    record[487:489] = b"FF"  # a future, matched in the order of arrival
    record[493:495] = b"A\x03"
    record[497:498] = b"N"
    record[501:503] = b"\0N"
    return dbn_head(3, 9) + bytes(record)


def lobster_messages():
    rows = [(1, 1, 1, 100, 1000, 1), (2, 1, 2, 50, 1002, -1), (3, 1, 3, 70, 1002, -1), (4, 4, 2, 50, 1002, -1),
            (4, 4, 3, 10, 1002, -1), (5, 2, 1, 40, 1000, 1), (6, 1, 4, 30, 1001, 1), (7, 3, 4, 30, 1001, 1),
            (8, 3, 1, 60, 1000, 1)]
    line = lambda step, kind, order, size, cents, direction: (
        f"{time_ns(step) // 10**9}.{time_ns(step) % 10**9:09},{kind},{order},{size},{cents * 100},{direction}\n")
    return "".join(line(*row) for row in rows).encode()


def lobster_books():
    """Prices here are in cents; the file has hundredths of them, and a number that is no price for an empty level."""
    side = lambda quotes, none: [(c * 100, n) for c, n in quotes] + [(none, 0)] * (2 - len(quotes))
    books = [([], [(1000, 100)]), ([(1002, 50)], [(1000, 100)]), ([(1002, 120)], [(1000, 100)]),
             ([(1002, 70)], [(1000, 100)]), ([(1002, 60)], [(1000, 100)]), ([(1002, 60)], [(1000, 60)]),
             ([(1002, 60)], [(1001, 30), (1000, 60)]), ([(1002, 60)], [(1000, 60)]), ([(1002, 60)], [])]
    text = ""
    for asks, bids in books:
        levels = zip(side(asks, 9_999_999_999), side(bids, -9_999_999_999))
        text += ",".join(f"{a},{n},{b},{m}" for (a, n), (b, m) in levels) + "\n"
    return text.encode()


def itch_message(step, kind, body):
    message = kind.encode() + struct.pack(">HH", INSTRUMENT, step) + struct.pack(">Q", time_ns(step))[2:] + body
    return struct.pack(">H", len(message)) + message


def itch_day():
    stock = b"MINI    "
    add = lambda step, order, side, size, cents: itch_message(
        step, "A", struct.pack(">Q", order) + side.encode() + struct.pack(">I", size) + stock +
        struct.pack(">I", cents * 100))
    return b"".join([
        itch_message(0, "S", b"O"),
        itch_message(0, "R", stock + b"QN" + struct.pack(">I", 100) + b"NCZ PN 1N" + struct.pack(">I", 0) + b"N"),
        itch_message(0, "H", stock + b"T     "),
        add(1, 1, "B", 100, 1000),
        add(2, 2, "S", 50, 1002),
        add(3, 3, "S", 70, 1002),
        itch_message(4, "E", struct.pack(">QIQ", 2, 50, 1)),
        itch_message(4, "E", struct.pack(">QIQ", 3, 10, 2)),
        itch_message(5, "X", struct.pack(">QI", 1, 40)),
        add(6, 4, "B", 30, 1001),
        itch_message(7, "D", struct.pack(">Q", 4)),
        itch_message(8, "D", struct.pack(">Q", 1)),
        itch_message(9, "S", b"C"),
        b"\0\0",
    ])


def files():
    made = {f"mini.v{version}.mbo.dbn": dbn_orders(version) for version in (1, 2, 3)}
    made["mini.definition.dbn"] = dbn_definition()
    made["mini_message_2.csv"] = lobster_messages()
    made["mini_orderbook_2.csv"] = lobster_books()
    made["mini.itch"] = itch_day()
    return made


def main():
    check = sys.argv[1:] == ["--check"]
    stale = []
    for name, content in files().items():
        path = FOLDER / name
        if not check:
            path.write_bytes(content)
        elif not path.exists() or path.read_bytes() != content:
            stale.append(name)
    # Compressors differ from version to version, so that the packed file is compared by what it holds.
    packed = FOLDER / "mini.itch.gz"
    if not check:
        packed.write_bytes(gzip.compress(itch_day(), mtime=0))
    elif not packed.exists() or gzip.decompress(packed.read_bytes()) != itch_day():
        stale.append(packed.name)
    if stale:
        sys.exit("not what tools/make_recorded_fixtures.py writes: " + ", ".join(stale))


if __name__ == "__main__":
    main()
