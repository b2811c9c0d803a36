# SPDX-License-Identifier: Apache-2.0
"""The pytest fixture ``corro_venue``: a venue for each test that asks for one.

Installed with the package. A test changes the venue by a marker:

>>> @pytest.mark.corro_venue(journal=True)
... def test_recovery(corro_venue): ...
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import corro


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", "corro_venue(config=None, journal=False): arguments of corro.serve for the fixture")


@pytest.fixture
def corro_venue(request: pytest.FixtureRequest) -> Iterator[corro.Venue]:
    """A venue on free ports, by `corro.serve`; it ends with the test."""
    marker = request.node.get_closest_marker("corro_venue")
    arguments = {} if marker is None else dict(marker.kwargs)
    if marker is not None and marker.args:
        arguments["config"] = marker.args[0]
    with corro.serve(**arguments) as venue:
        yield venue
