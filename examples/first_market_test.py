#!/usr/bin/env python3
"""Types the commands of docs/tutorial/first_market.md as they are printed, in a folder with free ports.

    first_market_test.py CORRO SOURCE_FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CORRO, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
PAGE = (SOURCE / "docs/tutorial/first_market.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(sh|python)\n(.*?)```", PAGE, re.DOTALL)


class FirstMarket(unittest.TestCase):
    def test_does_as_the_page_says(self):
        self.assertEqual([kind for kind, _ in BLOCKS], ["sh", "sh", "python", "sh", "sh"])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "config").mkdir()
            demo = (SOURCE / "config/demo.toml").read_text(encoding="utf-8")
            (pathlib.Path(folder) / "config/demo.toml").write_text(re.sub(r"127\.0\.0\.1:70\d\d", "127.0.0.1:0", demo))
            environment = dict(os.environ, PATH=f"{os.path.dirname(CORRO)}:{os.environ['PATH']}")
            said = []
            for kind, text in BLOCKS:
                command = ["bash", "-euo", "pipefail", "-c", text] if kind == "sh" else [sys.executable, "-c", text]
                done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240,
                                      check=False, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")
                said.append(done.stdout)
        self.assertRegex(said[0], r"the view saw \d+ messages and [1-9]\d* trades")
        self.assertRegex(said[2], r"(?m)^spread  [01]\.\d\d: [1-9]\d* times$")
        self.assertRegex(said[3], r"after command 5000 at .*\n[\s\S]*client order")
        lines = {name: int(count) for count, name in re.findall(r"(\d+) build/first_market/(\w+)_csv/trades.csv", said[4])}
        self.assertGreater(lines["fifo"], 1_000)
        self.assertGreater(lines["pro_rata"], lines["fifo"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
