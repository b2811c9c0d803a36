#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks without Jupyter: all code cells of each, one after the other, in the folder of the project.

usage: python python/notebooks/run.py [--pictures] [NOTEBOOK...]

With --pictures, each figure that a notebook shows is written to python/notebooks/pictures.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent


def code_of(notebook: pathlib.Path) -> str:
    """The code cells, as one text."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(each["source"]) for each in cells if each["cell_type"] == "code")


def run(notebook: pathlib.Path, pictures: pathlib.Path | None = None) -> dict[str, Any]:
    """Runs one; returns its variables."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = 0

    def show() -> None:
        nonlocal shown
        shown += 1
        if pictures is not None:
            with matplotlib.rc_context({"svg.hashsalt": notebook.stem, "savefig.dpi": 80}):
                plt.savefig(pictures / f"{notebook.stem}_{shown}.svg", metadata={"Date": None})
        plt.close("all")

    plt.show, before = show, plt.show
    try:
        variables: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(code_of(notebook), str(notebook), "exec"), variables)
        return variables
    finally:
        plt.show = before
        plt.close("all")


def main() -> None:
    """Runs those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path)
    chosen = parser.parse_args()
    notebooks = [each.resolve() for each in chosen.notebooks] or sorted(HERE.glob("*.ipynb"))
    os.chdir(HERE.parent.parent)
    for notebook in notebooks:
        begin = time.process_time()
        run(notebook, HERE / "pictures" if chosen.pictures else None)
        print(f"{notebook.stem}: {time.process_time() - begin:.1f} s")


if __name__ == "__main__":
    main()
