#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
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
SAVED_AS = re.search(r"Save it as `([\w./]+)`", PAGE).group(1)
PRINTED = re.search(r"<!-- printed -->\n```\n(.*?)```", PAGE, re.DOTALL).group(1)


class FirstMarket(unittest.TestCase):
    def test_does_as_the_page_says(self):
        self.assertEqual([kind for kind, _ in BLOCKS], ["sh", "sh", "sh", "python", "sh", "sh", "sh"])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "config").mkdir()
            demo = (SOURCE / "config/demo.toml").read_text(encoding="utf-8")
            (pathlib.Path(folder) / "config/demo.toml").write_text(re.sub(r"127\.0\.0\.1:70\d\d", "127.0.0.1:0", demo))
            environment = dict(os.environ, PATH=f"{os.path.dirname(CORRO)}:{os.environ['PATH']}")
            said = []
            for kind, text in BLOCKS:
                if kind == "python":
                    (pathlib.Path(folder) / SAVED_AS).write_text(text, encoding="utf-8")
                    continue
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, capture_output=True,
                                      text=True, timeout=240, check=False, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")
                said.append(done.stdout)
        self.assertRegex(said[1], r"the view saw \d+ messages and [1-9]\d* trades")
        self.assertRegex(said[3], r"(?m)^spread  [01]\.\d\d: [1-9]\d* times$")
        self.assertRegex(said[4], r"after command 1000 at .*\n[\s\S]*client order")
        self.assertEqual(said[5], PRINTED)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
