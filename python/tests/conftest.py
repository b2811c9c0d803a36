# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the programs of the build, and recorded runs."""

from __future__ import annotations

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENARIOS = ROOT / "config" / "markets"
RECORDED = ROOT / "src" / "recorded" / "testdata"

SANITIZED = "CORRO_SANITIZED_PYTHON" in os.environ
measures_memory = pytest.mark.skipif(SANITIZED, reason="the address sanitizer keeps memory that was freed")


def program(variable: str) -> str:
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{variable} does not name a program")
    return path


def call(*command: object) -> str:
    done = subprocess.run([str(each) for each in command], text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def corro_program() -> str:
    return program("CORRO_PROGRAM")


@pytest.fixture(scope="session")
def market_program() -> str:
    return program("CORRO_MARKET_PROGRAM")


@pytest.fixture(scope="session")
def recorded_run(market_program: str, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A recorded market of one instrument."""
    folder = tmp_path_factory.mktemp("runs") / "calm"
    call(market_program, "run", SCENARIOS / "calm.toml", "--seed", 3, "--out", folder, "--quiet")
    return folder


@pytest.fixture(scope="session")
def generated(corro_program: str, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A journal of random order flow in several instruments; its configuration is config/demo.toml."""
    folder = tmp_path_factory.mktemp("journals") / "demo"
    call(corro_program, "generate", "--config", ROOT / "config" / "demo.toml", "--commands", 20_000, "--seed", 5, folder)
    return folder
