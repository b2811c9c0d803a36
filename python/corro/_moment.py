# SPDX-License-Identifier: Apache-2.0
"""Moments: what people give for a time, as nanoseconds since the epoch."""

from __future__ import annotations

import datetime
import operator
import re
from typing import SupportsIndex, TypeAlias

import numpy as np

Time: TypeAlias = "str | int | SupportsIndex | datetime.datetime | np.datetime64"
"""A time in UTC: a text such as ``"2026-01-05T14:30:10.5"``, a ``datetime64``, a ``datetime`` with a time zone, or
nanoseconds since the epoch."""

_TEXT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?Z?")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MOST = 2**63 - 1


def nanoseconds(argument: str, value: Time) -> int:
    """The time in nanoseconds; `argument` is its name, for messages."""
    if isinstance(value, str):
        if not _TEXT.fullmatch(value):
            raise ValueError(
                f'{argument}="{value}" is not a time; write UTC as "2026-01-05T14:30:10.5", with up to nine decimals'
            )
        if not 1678 <= int(value[:4]) <= 2261:
            raise ValueError(f'{argument}="{value}": give a time in the years from 1678 to 2261, which nanoseconds can express')
        try:
            value = np.datetime64(value.rstrip("Z").replace(" ", "T"), "ns")
        except (ValueError, OverflowError) as e:
            raise ValueError(f'{argument}="{value}" is not a time: {e}') from None
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            raise ValueError(f"{argument} is NaT; give a time, or leave it out")
        try:
            exact = value.astype("datetime64[ns]")
            is_exact = bool(exact.astype(value.dtype) == value)
        except OverflowError:  # NumPy from 2.5 on; before, the number is another one
            is_exact = False
        if not is_exact:
            raise ValueError(f"{argument}={value} is beyond the year 2262, which nanoseconds cannot express")
        return int(exact.astype(np.int64))
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError(
                f"{argument}={value!r} has no time zone; add one, such as .replace(tzinfo=datetime.timezone.utc)"
            )
        since = value - _EPOCH
        made = ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000
        return made + getattr(since, "nanoseconds", 0)  # of pandas
    if isinstance(value, (bool, float)):
        raise TypeError(f"{argument}={value!r}: give nanoseconds since the epoch as an int, or a text or datetime64")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{argument}={value!r}: give a text such as \"2026-01-05T14:30:10\", a datetime64, a datetime with a time "
            "zone, or nanoseconds since the epoch"
        ) from None
    if not -_MOST <= number <= _MOST:
        raise ValueError(f"{argument}={number} is beyond 64 bits; give nanoseconds since the epoch")
    return number


def sequence(argument: str, value: SupportsIndex) -> int:
    """A sequence number of a command."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument}={value!r}: a sequence number is an int") from None
    if isinstance(value, bool) or not 0 <= number <= _MOST:
        raise ValueError(f"{argument}={value!r}: sequence numbers are from 0 (before the first command) on")
    return number
