# SPDX-License-Identifier: Apache-2.0
"""Writes dictionaries as TOML, for what the native part reads as TOML."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def to_toml(source: Mapping[str, Any]) -> str:
    """A dictionary as TOML: tables and lists of tables first, everything in them in one line each."""
    lines: list[str] = []
    for key, value in source.items():
        if isinstance(value, Mapping):
            lines.append(f"\n[{_key(key)}]")
            lines += _entries(value, key)
        elif _is_tables(value):
            for each in value:
                lines.append(f"\n[[{_key(key)}]]")
                lines += _entries(each, key)
        else:
            lines.insert(0, f"{_key(key)} = {_value(value, key)}")
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_tables(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, (str, bytes))
        and len(value) > 0
        and all(isinstance(each, Mapping) for each in value)
    )


def _entries(table: Mapping[str, Any], place: str) -> list[str]:
    return [f"{_key(key)} = {_value(value, f'{place}.{key}')}" for key, value in table.items()]


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is a key of the dictionary; keys are texts")
    if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key):
        return key
    return _text(key)


def _text(text: str) -> str:
    # JSON's escapes are those of TOML, except for the delete character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, place: str) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        raise ValueError(f"{place} is {value}; give a finite number")
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_value(each, f'{place}.{key}')}" for key, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, bytes):
        return "[" + ", ".join(_value(each, place) for each in value) + "]"
    raise TypeError(f"{place} is {value!r}; a scenario has texts, numbers, truth values, lists and tables")
