#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the program corro-market from outside: market_test.py PROGRAM SCENARIOS_FOLDER"""

import collections
import csv
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
SCENARIOS = pathlib.Path()


def corro_market(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


class Market(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)
        text = (SCENARIOS / "calm.toml").read_text().replace('"300s"', '"20s"')
        self.scenario = self.here / "calm.toml"
        self.scenario.write_text(text)

    def run_ok(self, *arguments):
        done = corro_market(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_a_run_leaves_all_that_repeats_it(self):
        out = self.here / "run"
        self.run_ok("run", self.scenario, "--seed", 3, "--out", out)
        names = {each.name for each in out.iterdir()}
        self.assertEqual(names, {"scenario.toml", "venue.toml", "journal", "agents.csv", "private.csv", "digests.csv", "report.html",
                                 "result.json"})
        first = json.loads((out / "result.json").read_text())
        self.assertGreater(first["trades"], 50)
        again = self.here / "again"
        self.run_ok("run", out / "scenario.toml", "--seed", 3, "--out", again)
        self.assertEqual(json.loads((again / "result.json").read_text()), first)
        self.assertEqual((again / "journal" / "0000000001.segment").read_bytes(),
                         (out / "journal" / "0000000001.segment").read_bytes())
        refused = corro_market("run", self.scenario, "--seed", 3, "--out", out)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("exists; name a new folder", refused.stderr)
        self.assertIn('journal = "journal"', (out / "venue.toml").read_text(), "a copy of the folder has its own journal")
        # A name with a comma is one field.
        self.scenario.write_text(self.scenario.read_text().replace('"ESZ6"', '"E,S"'))
        self.run_ok("run", self.scenario, "--out", self.here / "comma")
        with open(self.here / "comma" / "agents.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["instrument"] for row in rows} - {""}, {"E,S"})

    def test_a_run_keeps_the_file_of_values_that_it_follows(self):
        self.scenario.write_text((SCENARIOS / "announcement.toml").read_text().replace('"180s"', '"70s"'))
        values = self.here / "announcement.csv"
        values.write_text((SCENARIOS / "announcement.csv").read_text())
        out = self.here / "run"
        self.run_ok("run", self.scenario, "--out", out)
        self.assertEqual((out / "announcement.csv").read_text(), values.read_text())
        self.run_ok("run", self.scenario, "--seeds", "1:3", "--out", self.here / "seeds")
        values.write_text("seconds,ticks\n0,10000\n60,9900\n")
        self.run_ok("fork", out)
        refused = corro_market("run", self.scenario, "--seeds", "1:3", "--out", self.here / "seeds")
        self.assertIn("has runs of another scenario", refused.stderr)
        values.write_text("seconds,ticks\n0,10000\n60;9900\n")
        refused = corro_market("check", self.scenario)
        self.assertEqual(refused.returncode, 2)
        self.assertRegex(refused.stderr, r"calm.toml:\d+: fundamental.path: .*announcement.csv:3: expected a time and a value")

    def test_a_whole_venue_gives_the_folder_of_the_direct_run(self):
        text = (SCENARIOS / "constant_links.toml").read_text().replace('"60s"', '"2s"')
        text += '\n[[event]]\nat = "1s"\nkind = "phase"\nphase = "volatility_auction"\nlength = "300ms"\n'
        self.scenario.write_text(text)
        out = self.here / "whole"
        printed = self.run_ok("run", self.scenario, "--seed", 3, "--whole", "--out", out)
        self.assertIn("the direct run has the same digest", printed)
        result = json.loads((out / "result.json").read_text())
        whole = result.pop("whole")
        self.assertEqual(whole, {"equals_direct": True, "direct_digest": result["digest"],
                                 "direct_state_hash": result["state_hash"], "difference": ""})
        # A direct run that begins at the same time of day has the same folder.
        start = 'duration = "2s"\nstart = 2026-01-05T08:01:00Z'
        self.scenario.write_text(text.replace('duration = "2s"', start))
        direct = self.here / "direct"
        self.run_ok("run", self.scenario, "--seed", 3, "--out", direct)
        for name in ("agents.csv", "private.csv", "digests.csv", "journal/0000000001.segment"):
            self.assertEqual((direct / name).read_bytes(), (out / name).read_bytes(), name)
        known = json.loads((direct / "result.json").read_text())
        self.assertEqual(known["metrics"], result["metrics"])
        self.assertEqual(known["digest"], result["digest"])
        self.assertIn("has no forks", corro_market("fork", out).stderr)

        # Uniform delays are drawn by the network: the same market in distribution only, and the program says so.
        self.scenario.write_text(text.replace('"9ms"', '{ kind = "uniform", least = "8ms", most = "10ms" }'))
        printed = self.run_ok("run", self.scenario, "--whole", "--out", self.here / "uniform")
        self.assertRegex(printed, "the direct run differs: digest .*; command [0-9]+: the market executed request")
        refused = corro_market("run", SCENARIOS / "calm.toml", "--whole", "--out", self.here / "calm")
        self.assertIn("a whole venue has times of its own", refused.stderr)
        self.assertFalse((self.here / "calm").exists())
        refused = corro_market("run", SCENARIOS / "calm.toml", "--whole", "--seeds", "0:2")
        self.assertIn("--whole: expected one seed", refused.stderr)

    def test_seeds_run_in_processes_and_continue(self):
        out = self.here / "seeds"
        text = self.scenario.read_text()
        self.scenario.write_text(text.replace('name = "far"', 'name = "far"\nspeed_bump = "20ms"'))
        self.assertNotEqual(self.scenario.read_text(), text)
        self.run_ok("run", self.scenario, "--seeds", "0:5", "--jobs", 2, "--out", out)
        before = {each.name: each.read_text() for each in out.glob("seed-*.json")}
        self.assertEqual(len(before), 5)
        (out / "seed-2.json").unlink()
        kept = (out / "seed-1.json").stat().st_mtime_ns
        self.run_ok("run", self.scenario, "--seeds", "0:5", "--jobs", 1, "--out", out)
        self.assertEqual({each.name: each.read_text() for each in out.glob("seed-*.json")}, before)
        self.assertEqual((out / "seed-1.json").stat().st_mtime_ns, kept)
        summary = (out / "summary.md").read_text()
        self.assertIn("| trades |", summary)
        self.assertTrue(summary.startswith("5 seeds\n"))

        # A folder of more seeds than these, such as one of a version that included the end: nothing of it is counted.
        fewer = corro_market("run", self.scenario, "--seeds", "0:4", "--out", out)
        self.assertEqual(fewer.returncode, 0, fewer.stderr)
        self.assertIn("has results of 1 more seed, which is not in 0:4", fewer.stderr)
        self.assertTrue((out / "summary.md").read_text().startswith("4 seeds\n"))
        moved = json.loads((out / "seed-1.json").read_text())
        (out / "seed-3.json").write_text(json.dumps(moved))
        self.assertIn("seed-3.json: has seed 1", corro_market("run", self.scenario, "--seeds", "0:4", "--out", out).stderr)
        (out / "seed-3.json").write_text(json.dumps({**moved, "seed": 3, "version": "0.0.1"}))
        self.assertIn("seed-3.json: is of version 0.0.1", corro_market("run", self.scenario, "--seeds", "0:4", "--out", out).stderr)
        self.scenario.write_text(self.scenario.read_text() + "# other\n")
        refused = corro_market("run", self.scenario, "--seeds", "0:5", "--out", out)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("runs of another scenario", refused.stderr)

    def test_a_comparison_with_itself_finds_nothing_and_with_other_rules_something(self):
        same = self.run_ok("compare", self.scenario, self.scenario, "--seeds", "0:10", "--out", self.here / "same")
        self.assertNotIn("differs", same)
        self.assertRegex(same, r"\| trades \| \S+ \| \S+ \| \+0 \| \+0 to \+0 \| 1.0000 \|")
        other = self.here / "other.toml"
        other.write_text(self.scenario.read_text().replace("market_share = 0.15", "market_share = 0.4"))
        found = self.run_ok("compare", self.scenario, other, "--seeds", "0:16", "--out", self.here / "more")
        self.assertRegex(found, r"\| trades \|.*differs")

    def test_a_scorecard_has_all_facts_and_a_calibration_brings_them_nearer(self):
        recorded = self.here / "recorded.toml"
        recorded.write_text('[market]\nname = "mini"\nabout = "a small recording"\nsample = "10ms"\n[recording]\n'
                            'files = ["mini_message_2.csv", "mini_orderbook_2.csv"]\n'
                            '[[agents]]\ngroup = "nobody"\nkind = "idle"\n')
        against = ["--against", recorded, "--data", SCENARIOS.parent.parent / "src" / "recorded" / "testdata",
                   "--seeds", "1:2", "--warm-up-seconds", 2]
        card = self.run_ok("score", self.scenario, *against, "--out", self.here / "card.md")
        self.assertEqual((self.here / "card.md").read_text(), card)
        distances = [float(row.split("|")[6]) for row in card.splitlines() if row.startswith("| `")]
        self.assertEqual(len(distances), 26)
        self.assertEqual(distances, sorted(distances, reverse=True))
        template = self.here / "template.toml"
        text = self.scenario.read_text().replace('"20s"', '"6s"')
        template.write_text(text.replace("market_share = 0.15", "market_share = ${0.15 in 0.05 to 0.5}")
                            .replace("levels = 5", "levels = ${5 in 1 to 9, whole}"))
        found = {}
        for jobs in (1, 2):
            out = self.here / f"found-{jobs}.toml"
            printed = self.run_ok("calibrate", template, *against, "--evaluations", 16, "--jobs", jobs, "--out", out)
            before = float(re.search("before ([0-9.]+)", printed)[1])
            self.assertLess(float(re.search("cost ([0-9.]+)", printed)[1]), before)
            found[jobs] = out.read_text()
            self.run_ok("check", out)
        self.assertEqual(found[1], found[2], "the number of jobs changes nothing")
        self.assertNotEqual(found[1], text)
        refused = corro_market("calibrate", self.scenario, *against, "--out", self.here / "none.toml")
        self.assertIn("has no parameters", refused.stderr)
        # An output that is an input or has no folder is refused before the runs.
        before = template.read_text()
        for command, file, out, why in (("calibrate", template, template, "would overwrite"),
                                        ("score", self.scenario, recorded, "would overwrite"),
                                        ("score", self.scenario, self.here / "none" / "card.md", "cannot be written: No such file"),
                                        ("calibrate", template, self.here / "none" / "found.toml", "cannot be written: No such file")):
            refused = corro_market(command, file, *against, "--out", out)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""), command)
            self.assertIn(why, refused.stderr)
        self.assertEqual(template.read_text(), before)
        template.write_text(text.replace("market_share = 0.15", "market_share = ${0.15 in 0.5}"))
        refused = corro_market("calibrate", template, *against, "--out", self.here / "none.toml")
        self.assertEqual(refused.returncode, 2)
        self.assertRegex(refused.stderr, r"template\.toml:[0-9]+: expected NUMBER in NUMBER to NUMBER")
        recorded.write_text(recorded.read_text().replace('kind = "idle"', 'kind = "noise"'))
        self.assertIn("has agents that trade", corro_market("score", self.scenario, *against).stderr)

    def test_a_fork_repeats_the_run_up_to_its_moment(self):
        out = self.here / "run"
        self.run_ok("run", self.scenario, "--seed", 5, "--out", out)
        known = json.loads((out / "result.json").read_text())
        self.run_ok("fork", out, "--out", self.here / "unchanged")
        unchanged = json.loads((self.here / "unchanged" / "result.json").read_text())
        self.assertEqual(unchanged["digest"], known["digest"])
        self.run_ok("fork", out, "--at", "10s", "--event", 'kind = "withdraw"\ngroup = "makers"', "--out", self.here / "gone")
        changed = json.loads((self.here / "gone" / "result.json").read_text())
        self.assertNotEqual(changed["digest"], known["digest"])
        # The folder of a fork without --out is beside that of the run, also when its name ends with a slash.
        self.run_ok("fork", f"{out}/")
        self.assertTrue((self.here / "run-fork" / "result.json").exists())
        self.assertFalse((out / "-fork").exists())
        refused = corro_market("fork", out, "--at", "10s", "--event", "", "--out", self.here / "empty")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--event: expected the keys of an event", refused.stderr)
        other = self.here / "other.toml"
        other.write_text(self.scenario.read_text() + '\n[[event]]\nat = "10s"\nkind = "withdraw"\ngroup = "makers"\n')
        self.run_ok("fork", out, "--at", "10s", "--scenario", other, "--out", self.here / "file")
        self.assertEqual(json.loads((self.here / "file" / "result.json").read_text())["digest"], changed["digest"])
        refused = corro_market("fork", out, "--at", "12s", "--scenario", other, "--out", self.here / "late")
        self.assertIn("has effects before its moment", refused.stderr)
        early = corro_market("fork", out, "--at", "10s", "--event", 'kind = "withdraw"\ngroup = "makers"\n[[event]]\n'
                             'at = "3s"\nkind = "withdraw"\ngroup = "makers"', "--out", self.here / "early")
        self.assertEqual(early.returncode, 1)
        self.assertIn("has effects before its moment", early.stderr)
        self.assertFalse((self.here / "early").exists())
        (out / "digests.csv").write_text("time_ns,digest\n1,2\n")
        self.assertIn("not the digests of a run", corro_market("fork", out, "--out", self.here / "none").stderr)
        # The journals agree until then: 128 bytes a command.
        old = (out / "journal" / "0000000001.segment").read_bytes()
        new = (self.here / "gone" / "journal" / "0000000001.segment").read_bytes()
        equal = next(i for i, (a, b) in enumerate(zip(old, new)) if i > 8192 and a != b)
        self.assertGreater(equal, 30_000)

    def read_page(self, page):
        """The text of each element of a page, by tag; every element that is opened is closed."""
        counts, open_ones, texts = collections.Counter(), [], []
        void = {"meta", "br"}

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                counts[tag] += 1
                counts.update(value for key, value in attrs if key == "class")
                if tag not in void:
                    open_ones.append(tag)

            def handle_startendtag(self, tag, attrs):
                counts[tag] += 1
                counts.update(value for key, value in attrs if key == "class")

            def handle_endtag(self, tag):
                assert open_ones.pop() == tag, tag

            def handle_data(self, data):
                texts.append(data)

        Reader().feed(page.read_text())
        self.assertEqual(open_ones, [])
        return counts, texts

    def test_pages_have_the_numbers_and_a_plot_of_each(self):
        self.scenario.write_text(self.scenario.read_text() + '\n[[event]]\nat = "10s"\nkind = "withdraw"\n'
                                 'group = "makers"\n')
        text = self.scenario.read_text().replace('about = "', 'about = "<b>&')
        self.scenario.write_text(text)
        out = self.here / "run"
        self.run_ok("run", self.scenario, "--seed", 3, "--out", out)
        counts, texts = self.read_page(out / "report.html")
        result = json.loads((out / "result.json").read_text())
        self.assertEqual(counts["tr"], len(result["metrics"]))
        self.assertEqual(counts["b"], 0, "texts of a scenario are no markup")
        self.assertEqual((counts["prices"], counts["price"]), (1, 1))
        self.assertTrue(any(each.startswith("<b>&") for each in texts))
        self.assertIn("withdraw, 10 s", texts)
        self.assertIn(f'{result["metrics"]["trades"]:g}', texts)
        points = re.search(r'points="([^"]+)"', (out / "report.html").read_text()).group(1).split()
        self.assertGreater(len(points), 300)
        places = [tuple(map(float, each.split(","))) for each in points]
        self.assertEqual(places, sorted(places, key=lambda place: place[0]))
        self.assertTrue(all(80 <= x <= 890 and 12 <= y <= 212 for x, y in places))
        self.run_ok("compare", self.scenario, self.scenario, "--seeds", "0:3", "--out", self.here / "same")
        counts, texts = self.read_page(self.here / "same" / "comparison.html")
        rows = (self.here / "same" / "comparison.md").read_text().count("\n| ")
        self.assertGreater(rows, 20)
        self.assertEqual(counts["tr"], rows)
        self.assertEqual(counts["difference"], counts["tr"] - 1)
        self.assertNotIn("differs", texts)

    def test_a_full_disk_ends_a_run_with_a_sentence(self):
        disk = self.here / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", disk], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(lambda: subprocess.run(["umount", disk], check=True))
        known = self.here / "known"
        self.run_ok("run", self.scenario, "--out", known)
        whole = self.here / "whole.toml"
        whole.write_text((SCENARIOS / "constant_links.toml").read_text().replace('"60s"', '"40s"'))
        for command in (["run", self.scenario], ["fork", known], ["run", whole, "--whole"]):
            refused = corro_market(*command, "--out", disk / "run")
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertRegex(refused.stderr, r"disk/run/journal: the disk is full: the journal has no space after command [1-9]")
            self.assertEqual(list(disk.iterdir()), [], "nothing of the run stays")

    def test_errors_name_the_place(self):
        self.scenario.write_text(self.scenario.read_text().replace('kind = "noise"', 'kind = "noisy"'))
        refused = corro_market("check", self.scenario)
        self.assertEqual(refused.returncode, 2)
        self.assertRegex(refused.stderr, r"corro market: .*calm.toml:\d+: agents.kind: expected one of: almgren_chriss")
        self.assertEqual(corro_market("run", self.here / "none.toml").returncode, 2)
        for seeds, error in {"9:1": "'9:1' has no seed: A:B runs from A to before B", "5:5": "'5:5' has no seed",
                             "5": "'5' is not a range such as 0:200", ":5": "is not a range", "5:": "is not a range",
                             "0:1:2": "is not a range", "-1:3": "is not a range"}.items():
            refused = corro_market("compare", self.scenario, self.scenario, f"--seeds={seeds}")
            self.assertEqual(refused.returncode, 2, seeds)
            self.assertIn(error, refused.stderr)
        sound = SCENARIOS / "calm.toml"
        one = corro_market("compare", sound, sound, "--seeds", "5:6", "--out", self.here / "one")
        self.assertIn("a comparison needs at least two seeds", one.stderr)
        self.assertIn("0:200 has 200", self.run_ok("compare", "--help"))


if __name__ == "__main__":
    PROGRAM, SCENARIOS = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
