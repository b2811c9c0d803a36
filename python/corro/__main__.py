# SPDX-License-Identifier: Apache-2.0
"""``python -m corro``: the exchange's own program, with the arguments of ``corro``.

``python -m corro market run calm.toml --seed 1`` does what ``corro market run`` does; ``python -m corro --help`` lists the
commands. The program is the one in the package, or what ``CORRO_PROGRAM`` names.
"""

from __future__ import annotations

import os
import sys

from corro._serve import program


def main() -> None:
    """Becomes the program."""
    try:
        path = program()
    except FileNotFoundError as e:
        sys.exit(f"corro: {e}")
    sys.stdout.flush()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
