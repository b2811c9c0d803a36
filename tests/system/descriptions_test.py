#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page and the completions of shells are made of the command line's own description: they have all of it.

usage: descriptions_test.py CORRO SOURCE_FOLDER
"""

import re
import shutil
import subprocess
import sys
import unittest

from running_exchange import CORRO, TIME_LIMIT_S, run


def subcommands_in(*words):
    """The visible subcommands of the program, or of one of its subcommands."""
    shown = run(*words, "--help").stdout
    if "Subcommands:\n" not in shown:
        return []
    listed = shown.split("Subcommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \S", line)]


def options_in(*words):
    return re.findall(r"(?m)^  (?:-\w,)?(--[a-z][a-z-]*)", run(*words, "--help").stdout)


def completed(*words):
    script = run("completion", "bash").stdout
    typed = " ".join(f"'{word}'" for word in ("corro", *words))
    tail = f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _corro; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-euc", script + tail], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class Descriptions(unittest.TestCase):
    def test_bash_completes_subcommands_options_and_values(self):
        self.assertEqual(sorted(completed("")), sorted(subcommands_in() + ["--help", "--version"]))
        self.assertEqual(completed("ser"), ["serve"])
        self.assertEqual(completed("journal", "ver"), ["verify"])
        self.assertEqual(sorted(completed("load", "--")), sorted(set(options_in("load"))))
        self.assertEqual(completed("serve", "--threading", ""), ["inline", "split"])
        self.assertEqual(completed("serve", "--threading", "s"), ["split"])
        self.assertEqual(completed("serve", "--config", ""), [])  # a file name, which bash completes itself
        self.assertEqual(completed("completion", "b"), [])

    def test_fish_has_every_subcommand_and_option(self):
        script = run("completion", "fish").stdout
        for name in subcommands_in():
            self.assertRegex(script, rf"(?m)^complete -c corro -n '__fish_use_subcommand' -f -a {name} -d '")
        for option in options_in("load"):
            self.assertRegex(script, rf"(?m)^complete -c corro -n '__fish_seen_subcommand_from load' -l {option[2:]}[ $]")
        if shutil.which("fish"):
            subprocess.run(["fish", "--no-execute", "-c", script], check=True, timeout=TIME_LIMIT_S)

    def test_the_manual_has_every_subcommand_and_option_and_is_sound(self):
        manual = run("manual").stdout
        plain = manual.replace("\\-", "-")
        for name in subcommands_in():
            self.assertIn(f"\n.SS corro {name}\n", plain)
            for option in options_in(name):
                if name not in ("lab", "market", "simulate"):  # programs of their own
                    self.assertRegex(plain, rf"(?m)^\.B .*{option}\b")
        self.assertIn("\n.SS corro journal verify\n", plain)
        if shutil.which("groff"):
            shown = subprocess.run(["groff", "-man", "-ww", "-Tascii"], input=manual, capture_output=True, text=True,
                                   timeout=TIME_LIMIT_S, check=True)
            self.assertEqual(shown.stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
