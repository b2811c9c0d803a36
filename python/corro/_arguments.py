# SPDX-License-Identifier: Apache-2.0
"""Arguments that several parts take: durations, seeds, counts."""

from __future__ import annotations

import datetime
import math
import operator
import re
from typing import SupportsIndex, TypeAlias

import numpy as np

Duration: TypeAlias = "str | float | datetime.timedelta | np.timedelta64"
"""A text such as ``"250us"`` or ``"1.5s"``, seconds, a ``timedelta`` or a ``timedelta64``."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)")
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3_600 * 10**9}
_DURATION_MOST = 7 * 86_400 * 10**9


def duration_ns(argument: str, value: Duration) -> int:
    """A duration in nanoseconds; `argument` is its name, for messages."""
    advice = 'give a text such as "90s" or "250us", seconds, a timedelta or a timedelta64'
    if isinstance(value, str):
        parts = _DURATION.fullmatch(value)
        if parts is None:
            raise ValueError(f'{argument}="{value}" is not a duration; {advice}. Units are ns, us, ms, s, m, h')
        whole, _, decimals = parts[1].partition(".")
        unit = _UNITS[parts[2]]
        made = int(whole) * unit + (int(decimals) * unit // 10 ** len(decimals) if decimals else 0)
    elif isinstance(value, np.timedelta64):
        if np.isnat(value):
            raise ValueError(f"{argument} is NaT; {advice}")
        try:
            exact = value.astype("timedelta64[ns]")
            # Finer units lose digits; too large a number becomes another one.
            is_it = np.datetime_data(value.dtype)[0] in ("ps", "fs", "as") or bool(exact.astype(value.dtype) == value)
            made = int(exact.astype(np.int64)) if is_it else _DURATION_MOST + 1
        except OverflowError:  # NumPy from 2.5 on
            made = _DURATION_MOST + 1
    elif isinstance(value, datetime.timedelta):
        made = ((value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds) * 1_000
        made += getattr(value, "nanoseconds", 0)  # of pandas
    elif isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ValueError(f"{argument}={value!r} is not a duration; {advice}")
        made = round(float(value) * 1e9)
    else:
        raise TypeError(f"{argument}={value!r} is not a duration; {advice}")
    if not 0 <= made <= _DURATION_MOST:
        raise ValueError(f"{argument}={value!r}: from 0 to a week")
    return made


def seed_argument(argument: str, value: SupportsIndex) -> int:
    """A seed."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument}={value!r}: a seed is an int") from None
    if isinstance(value, bool) or not 0 <= number < 2**64:
        raise ValueError(f"{argument}={value!r}: seeds are from 0 to 2**64 - 1")
    return number


def count_argument(argument: str, value: SupportsIndex, least: int = 1) -> int:
    """A number of things."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument}={value!r}: give an int") from None
    if isinstance(value, bool) or not least <= number < 2**31:
        raise ValueError(f"{argument}={value!r}: give an int from {least} on")
    return number
