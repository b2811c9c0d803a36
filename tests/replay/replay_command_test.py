#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `corro replay` as a person uses it: exit codes, messages about bad input, and the JSON summary.

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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
from running_exchange import free_ports  # noqa: E402

CORRO = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])
DATA = SOURCE / "src/recorded/testdata"
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

    for tape in ("mini.itch", "mini.itch.gz"):
        code, out, err = run(DATA / tape, "--json", summary, "--stock", "MINI")
        told = json.loads(summary.read_text())
        expect(f"{tape} is reproduced", code == 0 and told["unexplained"] == 0 and told["instrument"] == "MINI", (code, out, err))
        expect(f"{tape}: lots", told["fills"]["lots"] == {"equal": 60, "total": 60}, told)
        expect(f"{tape}: messages beside orders", told["not_replayed"]["actions"] == 1 and told["not_replayed"]["hidden"] == 0, told)
    expect_refusal("a stock that the file lacks", r"mini\.itch: has no orders of AMZN", DATA / "mini.itch", "--stock", "AMZN")
    expect_refusal("two files of ITCH", r"an ITCH recording is one file", DATA / "mini.itch", DATA / "mini.itch")

    # No output overwrites what the command reads, or another file of the user.
    tape = folder / "tape.dbn"
    tape.write_bytes((DATA / "mini.v3.mbo.dbn").read_bytes())
    link = folder / "link.dbn"
    link.symlink_to(tape)
    mine = folder / "mine.toml"
    mine.write_text("[venue]\n")
    expect_refusal("--json over the recording", r"--json .*tape\.dbn: would overwrite", tape, "--json", tape)
    expect_refusal("by another name", r"--json .*link\.dbn: would overwrite", tape, "--json", link)
    expect_refusal("--times over the recording", r"--times .*tape\.dbn: would overwrite", tape, "--times", tape)
    expect_refusal("--json over the times", r"--json .*both\.csv: would overwrite", tape, "--times", folder / "both.csv", "--json",
                   folder / "both.csv")
    expect_refusal("--serve over a configuration", r"--serve .*mine\.toml: exists, and was not written by this command", tape, "--serve", mine)
    expect("all files are as they were", mine.read_text() == "[venue]\n" and tape.read_bytes() == (DATA / "mini.v3.mbo.dbn").read_bytes(),
           sorted(folder.iterdir()))

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
    expect_refusal("a foreign file", r"README\.md: not a DBN or ITCH file", SOURCE / "README.md")
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

    # An interrupted paced replay reports this, with its results so far.
    process = subprocess.Popen([CORRO, "replay", str(DATA / "mini.v3.mbo.dbn"), "--speed", "0.0001"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "recorded time" not in process.stderr.readline():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    expect("an interrupt ends it cleanly", process.returncode == 1 and "ended early: stopped" in out,
           (process.returncode, out, err))

# Visitors: the replay begins when they have logged on, and ends with what they changed.
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    venue = folder / "visitors.toml"
    summary = folder / "summary.json"

    def serve(*more):
        process = subprocess.Popen([CORRO, "replay", str(DATA / "mini.v3.mbo.dbn"), "--serve", str(venue), "--json", str(summary), *more],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
        while "The replay begins when" not in line:
            expect("it opens the exchange", line != "", "the program has ended")
            line = process.stderr.readline()
        return process

    def end_visit(visitor):
        """A client whose exchange is gone tries for a minute to connect again."""
        visitor.kill()
        return visitor.communicate(timeout=60)[0]

    code, out, err = run(DATA / "mini.v3.mbo.dbn", "--serve", venue, "--config", SOURCE / "config/demo.toml")
    expect("--serve is for an exchange of its own", code == 1 and "leave out --config" in err, (code, out, err))
    code, out, err = run(DATA / "mini.v3.mbo.dbn", "--visitors", "2")
    expect("--visitors needs --serve", code == 2 and "--serve" in err, (code, out, err))

    # Who comes and does nothing changes nothing. The second visitor is waited for.
    process = serve("--visitors", "2", "--speed", "1000000")
    expect("only its owner may read the keys", venue.stat().st_mode & 0o077 == 0, oct(venue.stat().st_mode))
    visitors = []
    for name in ("visitor1", "visitor2"):
        time.sleep(0.5)
        expect("it waits for both", process.poll() is None and not summary.exists(), name)
        visitors.append(subprocess.Popen([CORRO, "client", "--config", str(venue), "--account", name, "--plain"],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    out, err = process.communicate(timeout=120)
    for visitor in visitors:
        end_visit(visitor)
    told = json.loads(summary.read_text())
    expect("nothing has changed", process.returncode == 0 and told["visitors"]["lots"] == 0 and told["unexplained"] == 0, (out, err))
    steps = told["visitors"]["steps"]
    expect("every step is as recorded", steps["equal"] == steps["total"] > 0, told)
    expect("no position", told["visitors"]["position_visitor2"] == "0", told)

    # A visitor sells at the lowest price until the end, and so takes the place of others.
    summary.unlink()
    process = serve("--speed", "1000")
    visitor = subprocess.Popen([CORRO, "client", "--config", str(venue), "--account", "visitor1", "--plain"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    low = re.search(r'price_low = "(.*)"', venue.read_text())[1]
    visitor.stdin.write(f"sell 100000 {low} gtc\n")
    visitor.stdin.flush()
    out, err = process.communicate(timeout=120)
    heard = end_visit(visitor)
    told = json.loads(summary.read_text())
    changed = told["visitors"]
    expect("the lots of the visitor are counted", changed["lots"] > 0 and changed["position_visitor1"] == str(-changed["lots"]),
           (told, heard))
    expect("so is what they changed", changed["steps"]["equal"] < changed["steps"]["total"] and told["unexplained"] > 0, told)
    expect("which is no failure", process.returncode == 0 and told["success"], (process.returncode, out, err))
    expect("the report tells when", "recorded time of the first that did not" in out, out)

    # An interrupt while it waits.
    process = serve()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    expect("an interrupt ends the wait", process.returncode == 1 and "ended early: stopped" in out, (process.returncode, out, err))

# The recorded times of a replay on a venue with a journal: an export of that journal is the recording again.
VENUE = """
[venue]
name = "CORRO"
keys = "public"
orders_max = 100_000

[order_entry]
listen = "127.0.0.1:PORT0"

[market_data]
feed_listen = "127.0.0.1:PORT1"
snapshot_listen = "127.0.0.1:PORT2"
feed_log_bytes = 1_048_576

[facility]
journal = "JOURNAL"

[[instrument]]
id = 1
symbol = "MINI"
product = 1
kind = "spot"
tick_size = "0.01"
price_low = "1"
price_high = "20"

[[account]]
id = 1
name = "replay"
key = "3c2ab6291091e38af2a3683333a6e0ccf1e3b6d53a46e5fcbd9062eaa690b5b1"
operator = true
"""


def tool(*arguments):
    done = subprocess.run([CORRO, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def iso(ns):
    """A time as `--at` takes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9)) + f".{ns % 10**9:09}"


def best_of(text):
    """The best bid and offer that `corro book` prints, each as quantity and price in ten-thousandths; None for none."""
    left, right = re.search(r"ask +quantity +orders\n(.*)\|(.*)\n", text).groups()
    sides = [left.split()[1:], right.split()[1::-1]]
    return [(int(side[0]), round(float(side[1]) * 10_000)) if len(side) == 2 else None for side in sides]


def recorded_best(row):
    """The same of a row of an order book file."""
    ask, ask_size, bid, bid_size = map(int, row.split(",")[:4])
    return [(bid_size, bid) if bid_size else None, (ask_size, ask) if ask_size else None]


def without_order(line):
    """A row of a message file but for the number of its order, which is the venue's own."""
    fields = line.split(",")
    return fields[:2] + fields[3:]


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    text = VENUE.replace("JOURNAL", str(folder / "journal"))
    for number, port in enumerate(free_ports(3)):
        text = text.replace(f"PORT{number}", str(port))
    config, times = folder / "venue.toml", folder / "times.csv"
    config.write_text(text)
    # The day is in the name of a file.
    day = "MINI_2012-06-21_34200000_57600000"
    messages, books = folder / f"{day}_message_2.csv", folder / f"{day}_orderbook_2.csv"
    messages.write_text((DATA / "mini_message_2.csv").read_text())
    books.write_text((DATA / "mini_orderbook_2.csv").read_text())

    process = subprocess.Popen([CORRO, "serve", "--config", str(config)], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
    said = []
    for line in process.stdout:
        said.append(line)
        if "Ctrl-C closes it" in line:
            break
    expect("the venue runs", process.poll() is None, said)
    code, out, err = run("--config", config, messages, books, "--times", times)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    expect("the recording is reproduced on a venue", code == 0, (code, out, err))
    lines = times.read_text().splitlines()
    expect("each request has its time", lines[0] == "session,request,time" and len(lines) == 10, lines)
    expect("the first request has that of the first row", lines[1].endswith(",1340272800001000001"), lines)

    code, out, err = tool("export", "--config", config, "--times", times, "--format", "lobster", "--depth", "2",
                          folder / "again")
    expect("the journal is exported", code == 0, (code, out, err))
    again = folder / "again" / "MINI_2012-06-21_0_86400000_message_2.csv"
    expect("under the recorded day", again.exists(), sorted(each.name for each in (folder / "again").iterdir()))
    recorded, exported = messages.read_text().splitlines(), again.read_text().splitlines()
    expect("the export is the recording, and what the replay leaves behind is deleted",
           [without_order(each) for each in exported[:9]] == [without_order(each) for each in recorded]
           and [each.split(",")[1] for each in exported[9:]] == ["3"], again.read_text())

    # The book at a recorded moment is the recorded one. Behind the last row the replay deletes what is left.
    moments = [int(line.split(",")[2]) for line in lines[1:]]
    asked = 0
    for moment, following, row in zip(moments, moments[1:], books.read_text().splitlines()):
        if moment == following:
            continue
        code, out, err = tool("book", "--config", config, "--times", times, "--at", iso(moment), "--depth", "1")
        expect("the book is printed", code == 0, (code, out, err))
        expect(f"the book at {iso(moment)} is the recorded one", best_of(out) == recorded_best(row), (out, row))
        asked += 1
    expect("several moments are asked for", asked == 7, asked)
    code, out, err = tool("book", "--config", config, "--times", times, "--at", iso(moments[0] - 1), "--depth", "1")
    expect("before the first row there is no order", code == 0 and best_of(out) == [None, None], (code, out, err))
    code, out, err = tool("book", "--config", config, "--times", times, "--at", "3")
    expect("a number is no recorded time", code == 1 and "--times: --at has to be a time" in err, (code, out, err))

    # Control: without the file the export has the venue's own times.
    code, out, err = tool("export", "--config", config, "--format", "lobster", "--depth", "2", folder / "today")
    expect("the journal is exported without times", code == 0, (code, out, err))
    expect("under the day of the replay",
           not any("2012-06-21" in each.name for each in (folder / "today").iterdir()), out)

    code, out, err = tool("export", "--config", config, "--times", messages, folder / "wrong")
    expect("a file that has no recorded times is refused", code == 1 and "as corro replay --times writes them" in err,
           (code, out, err))

print(f"{checks} checks")
