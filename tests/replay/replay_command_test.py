#!/usr/bin/env python3
"""The command `corro replay` as a person uses it: exit codes, what is said about bad input, and the JSON summary.

usage: replay_command_test.py CORRO SOURCE_DIR
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

CORRO = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])
DATA = SOURCE / "src/wire/recorded/testdata"
checks = 0


def run(*arguments):
    done = subprocess.run([CORRO, "replay", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def expect(what, condition, seen):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"{what}\n--- seen ---\n{seen}")


def expect_refusal(what, pattern, *arguments):
    code, out, err = run(*arguments)
    expect(f"{what}: exit code 1 and /{pattern}/", code == 1 and re.search(pattern, err), (code, out, err))


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    summary = folder / "summary.json"

    for tape in ("mini.v1.mbo.dbn", "mini.v2.mbo.dbn", "mini.v3.mbo.dbn"):
        code, out, err = run(DATA / tape, "--json", summary)
        told = json.loads(summary.read_text())
        expect(f"{tape} is reproduced", code == 0 and "remains unexplained" in out, (code, out, err))
        expect(f"{tape}: JSON agrees", told["success"] and told["complete"] and told["unexplained"] == 0, told)
        expect(f"{tape}: lots", told["fills"]["lots"] == {"equal": 60, "total": 60}, told)
        expect(f"{tape}: books", told["books"]["continuous"] == {"equal": 8, "total": 8}, told)

    messages, books = DATA / "mini_message_2.csv", DATA / "mini_orderbook_2.csv"
    for pair in ((messages, books), (books, messages)):
        code, out, err = run(*pair, "--json", summary)
        told = json.loads(summary.read_text())
        expect("LOBSTER is reproduced, whichever file comes first", code == 0, (code, out, err))
        expect("every row agrees", told["quotes"]["rows"] == {"equal": 9, "total": 9}, told)

    # Negative control: one size of the book file is wrong.
    wrong = folder / "mini_orderbook_2.csv"
    wrong.write_text(books.read_text().replace("100200,60,100000,60,", "100200,61,100000,60,", 1))
    code, out, err = run(messages, wrong)
    expect("a wrong quote is found out", code == 1 and "levels differ" in out, (code, out, err))

    whole = (DATA / "mini.v3.mbo.dbn").read_bytes()
    cut = folder / "cut.dbn"
    cut.write_bytes(whole[:-10])
    expect_refusal("a truncated file", r"cut\.dbn: byte \d+: ", cut)
    expect_refusal("a missing file", r"/nowhere/x\.dbn: No such file", "/nowhere/x.dbn")
    expect_refusal("a folder", r"directory", DATA)
    expect_refusal("a foreign file", r"README\.md: no DBN file", SOURCE / "README.md")
    expect_refusal("a foreign file, said to be DBN", r"byte 0: ", "--format", "dbn", messages)
    expect_refusal("definitions without orders", r"no orders", DATA / "mini.definition.dbn")
    lines = messages.read_text().splitlines(keepends=True)
    short = folder / "short_message.csv"
    short.write_text("".join(lines[:-1]))
    expect_refusal("files that do not belong together", r"line 9: the message file has ended", short, books)
    bad = folder / "bad_message.csv"
    bad.write_text("".join(lines[:3]) + "36000.004,4,x,50,100200,-1\n" + "".join(lines[4:]))
    expect_refusal("a bad line", r"bad_message\.csv: line 4", bad, books)
    expect_refusal("an exchange that does not run", r"order entry at", DATA / "mini.v3.mbo.dbn",
                   "-c", SOURCE / "config/demo.toml", "--instrument", "CLF7")

    # A paced replay that is interrupted says so, with what it has.
    process = subprocess.Popen([CORRO, "replay", str(DATA / "mini.v3.mbo.dbn"), "--speed", "0.0001"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "recorded time" not in process.stderr.readline():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    expect("an interrupt ends it cleanly", process.returncode == 1 and "ended early: stopped" in out,
           (process.returncode, out, err))

print(f"{checks} checks")
