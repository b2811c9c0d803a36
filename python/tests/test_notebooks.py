# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from their first cell to their last, and their own assertions hold."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import warnings

import pytest
from conftest import ROOT

NOTEBOOKS = ROOT / "python" / "notebooks"
ALL = sorted(NOTEBOOKS.glob("*.ipynb"))


def runner():
    found = importlib.util.spec_from_file_location("run_notebooks", NOTEBOOKS / "run.py")
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


@pytest.mark.parametrize("notebook", ALL, ids=lambda each: each.stem)
def test_a_notebook_runs(notebook, corro_program, monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(ROOT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner().run(notebook, tmp_path)
    assert capsys.readouterr().out
    # The committed pictures are those that the notebook shows.
    names = sorted(each.name for each in tmp_path.glob("*.svg"))
    assert names == sorted(each.name for each in (NOTEBOOKS / "pictures").glob(f"{notebook.stem}_*.svg"))


def test_notebooks_are_committed_without_results_and_listed():
    readme = (NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    for notebook in ALL:
        content = json.loads(notebook.read_text(encoding="utf-8"))
        for cell in content["cells"]:
            assert cell["cell_type"] == "markdown" or (cell["outputs"] == [] and cell["execution_count"] is None), notebook.name
        assert content["cells"][0]["cell_type"] == "markdown" and f"({notebook.name})" in readme, notebook.name
    assert len(ALL) >= 12


def test_a_notebook_that_fails_is_noticed(tmp_path):
    pytest.importorskip("matplotlib")
    wrong = pathlib.Path(tmp_path / "wrong.ipynb")
    wrong.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["x = 1\n", "assert x == 2"]}]}))
    with pytest.raises(AssertionError):
        runner().run(wrong)
