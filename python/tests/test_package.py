# SPDX-License-Identifier: Apache-2.0
"""What the package says of itself."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

from conftest import ROOT

import corro


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    built = re.search(r"project\(corro VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert built is not None
    assert project["version"] == corro.__version__ == built[1]


def test_every_public_name_is_there_and_described():
    for name in corro.__all__:
        found = getattr(corro, name)
        if name not in ("__version__",):
            assert found.__doc__, name
    assert sorted(corro.__all__) == corro.__all__


def test_public_methods_are_described():
    for kind in (corro.Frame, corro.Journal, corro.Market, corro.Seat, corro.Client, corro.Feed, corro.Venue, corro.Order):
        for name, member in vars(kind).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, (property, classmethod))):
                assert member.__doc__, f"{kind.__name__}.{name}"


def test_a_name_is_imported_when_it_is_used():
    script = (
        "import sys, corro; parts = ('numpy', 'asyncio', 'corro._market', 'corro._client')\n"
        "print(*(each in sys.modules for each in parts)); corro.Market; print(*(each in sys.modules for each in parts))\n"
        "corro.Client; print(*(each in sys.modules for each in parts)); print(set(corro.__all__) <= set(dir(corro)))"
    )
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=60)
    assert done.stdout == "False False False False\nTrue False True False\nTrue True True True\nTrue\n", done.stderr


def test_the_module_runs_the_program(corro_program):
    own = subprocess.run([corro_program, "market", "run", "--help"], text=True, capture_output=True, timeout=60)
    there = subprocess.run([sys.executable, "-m", "corro", "market", "run", "--help"], text=True, capture_output=True, timeout=60)
    assert there.returncode == own.returncode == 0 and there.stdout == own.stdout != ""
    wrong = subprocess.run([sys.executable, "-m", "corro", "dance"], text=True, capture_output=True, timeout=60)
    assert wrong.returncode != 0 and "dance" in wrong.stderr


def test_the_module_says_where_a_missing_program_comes_from(monkeypatch):
    monkeypatch.setenv("CORRO_PROGRAM", "/nowhere/corro")
    done = subprocess.run([sys.executable, "-m", "corro"], text=True, capture_output=True, timeout=60)
    assert done.returncode == 1 and done.stderr == "corro: CORRO_PROGRAM=/nowhere/corro: no such file\n"
