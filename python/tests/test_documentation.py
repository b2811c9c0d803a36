# SPDX-License-Identifier: Apache-2.0
"""What the pages about Python show is what happens when it is typed."""

from __future__ import annotations

import doctest
import shutil

import pytest
from conftest import RECORDED, ROOT

FILES = {"es.mbo.dbn": "mini.v3.mbo.dbn", "es.definition.dbn": "mini.definition.dbn",
         "AMZN_message.csv": "mini_message_2.csv"}


# How many statements a page has at least.
PAGES = {"python": 25, "python_agents": 30, "python_data": 20, "python_venue": 3}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_happens(name, corro_program, recorded_run, tmp_path, monkeypatch):
    for library in ("polars", "pyarrow", "pandas", "duckdb", "matplotlib", "gymnasium", "pettingzoo"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(recorded_run, tmp_path / "runs" / "calm")
    shutil.copytree(ROOT / "config", tmp_path / "config")
    for file, source in FILES.items():
        shutil.copy(RECORDED / source, tmp_path / file)
    page = (ROOT / "docs" / "howto" / f"{name}.md").read_text(encoding="utf-8")
    examples = "\n".join(part.split("```")[0] for part in page.split("```python\n")[1:])
    test = doctest.DocTestParser().get_doctest(examples, {}, name, f"{name}.md", 0)
    assert len(test.examples) >= PAGES[name]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL, verbose=False)
    shown: list[str] = []
    runner.run(test, out=shown.append)
    assert runner.failures == 0, "".join(shown)
    if name == "python":
        assert (tmp_path / "market.svg").stat().st_size > 1000
