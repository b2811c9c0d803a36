# SPDX-License-Identifier: Apache-2.0
"""`corro` in a terminal of its own (tmux), for tests that look at the screen and type."""

import itertools
import os
import re
import shlex
import subprocess
import time

from running_exchange import CORRO, TIME_LIMIT_S

numbers = itertools.count()


class Terminal:
    """A context manager. The shell stays when the program has left, and with it the last words."""

    def __init__(self, folder, arguments, size=(120, 40), environment=None):
        # A server of its own: one that is being killed would refuse the next session.
        self.tmux = ["tmux", "-S", os.path.join(folder, f"tmux{next(numbers)}")]
        self.size = size
        words = ["env", *(f"{name}={value}" for name, value in (environment or {}).items()), CORRO, *arguments]
        program = " ".join(shlex.quote(word) for word in words)
        self.command = ["sh", "-c", program + "; echo left with $?; sleep 600"]

    def __enter__(self):
        subprocess.run([*self.tmux, "-f", "/dev/null", "new-session", "-d", "-x", str(self.size[0]), "-y", str(self.size[1]),
                        "--", *self.command], check=True, timeout=TIME_LIMIT_S)
        return self

    def __exit__(self, *unused):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True, check=False, timeout=TIME_LIMIT_S)

    def type(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], check=True, timeout=TIME_LIMIT_S)

    def resize(self, columns, rows):
        subprocess.run([*self.tmux, "resize-window", "-x", str(columns), "-y", str(rows)], check=True, timeout=TIME_LIMIT_S)

    def screen(self, *options):
        """What it shows; with "-e" also the escape sequences of colours."""
        return subprocess.run([*self.tmux, "capture-pane", "-p", *options], capture_output=True, text=True, check=False,
                              timeout=TIME_LIMIT_S).stdout

    def wait_for(self, pattern):
        deadline = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < deadline:
            shown = self.screen()
            if re.search(pattern, shown):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"the screen never showed {pattern!r}; it shows:\n{self.screen()}")
