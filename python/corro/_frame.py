# SPDX-License-Identifier: Apache-2.0
"""Frames: tables of columns that NumPy and Arrow see without a copy."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from corro import _corro

if TYPE_CHECKING:
    # Any, where one of them or its types are missing.
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import polars  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]

_ROWS_SHOWN = 5
_LINE_WIDTH = 100


class Frame:
    """A table of columns of equal length, which does not change.

    ``frame["price"]`` is a column as a NumPy array. A frame is also an Arrow table: whatever takes the Arrow
    PyCapsule interface takes it without a copy, such as ``polars.DataFrame(frame)``, ``pyarrow.table(frame)``,
    ``pandas.DataFrame.from_arrow(frame)`` and ``duckdb.sql("select * from frame")``.

    Times are nanoseconds since the epoch in UTC (``datetime64[ns]``), prices are decimals in the instrument's
    currency, quantities are units. A missing price is NaN, a missing time NaT, a missing text ``""``; in Arrow all
    three are null.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: _corro.Columns) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return self._columns.names

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns.names

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.names)

    def keys(self) -> list[str]:
        """The same as `columns`, so that ``dict(frame)`` works."""
        return self._columns.names

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column as a NumPy array.

        Numbers, times and flags are the frame's own memory, read-only. Texts are made from their codes:
        `codes` and `categories` give these without a copy.
        """
        what = self._meaning(name)
        values = self._columns.values(name)
        if what == "time":
            return values.view("datetime64[ns]")
        if what == "duration":
            return values.view("timedelta64[ns]")
        if what == "flag":
            return values.view(np.bool_)
        if what == "category":
            # The last text stands for the code -1.
            texts: npt.NDArray[np.str_] = np.array([*self._columns.categories(name), ""])[values]
            return texts
        return values

    def codes(self, name: str) -> npt.NDArray[Any]:
        """A column of texts as indices into `categories`; -1 for none.

        Parameters
        ----------
        name
            A column of texts, such as ``"instrument"``.
        """
        if self._meaning(name) != "category":
            raise TypeError(f'column "{name}" has no texts; frame["{name}"] is its array')
        return self._columns.values(name)

    def categories(self, name: str) -> list[str]:
        """The texts of a column, by code."""
        if self._meaning(name) != "category":
            raise TypeError(f'column "{name}" has no texts; frame["{name}"] is its array')
        return self._columns.categories(name)

    def to_numpy(self) -> npt.NDArray[np.void]:
        """The frame as one structured array: a copy, row by row."""
        columns = {name: self[name] for name in self.columns}
        made = np.empty(len(self), dtype=[(name, values.dtype) for name, values in columns.items()])
        for name, values in columns.items():
            made[name] = values
        return made

    def to_pandas(self) -> pandas.DataFrame:
        """The frame as a pandas DataFrame, with categories for texts."""
        pd = _needed("pandas", "to_pandas")
        made = pd.DataFrame({name: self[name] for name in self.columns if self._meaning(name) != "category"})
        for place, name in enumerate(self.columns):
            what = self._meaning(name)
            if what == "category":
                texts = pd.Categorical.from_codes(self.codes(name), categories=self.categories(name))
                made.insert(place, name, texts)
            elif what == "time":
                made[name] = made[name].dt.tz_localize("UTC")
        return made  # type: ignore[no-any-return,unused-ignore]

    def to_polars(self) -> polars.DataFrame:
        """The frame as a polars DataFrame."""
        return _needed("polars", "to_polars").DataFrame(self)  # type: ignore[no-any-return,unused-ignore]

    def to_arrow(self) -> pyarrow.Table:
        """The frame as a pyarrow Table, without a copy."""
        return _needed("pyarrow", "to_arrow").table(self)  # type: ignore[no-any-return,unused-ignore]

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes the frame as a Parquet file, compressed by zstd. Needs pyarrow or polars.

        Parameters
        ----------
        path
            The file; an older one is replaced.
        """
        for library in ("pyarrow", "polars"):
            try:
                importlib.import_module(library)
            except ImportError:
                continue
            if library == "pyarrow":
                importlib.import_module("pyarrow.parquet").write_table(self.to_arrow(), path, compression="zstd")
            else:
                self.to_polars().write_parquet(os.fspath(path), compression="zstd")
            return
        raise ImportError("to_parquet needs pyarrow or polars: pip install pyarrow")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface. A requested schema is not followed; the interface leaves that open."""
        return self._columns.arrow_stream()

    def __arrow_c_schema__(self) -> object:
        """The Arrow PyCapsule interface: names and types of the columns."""
        return self._columns.arrow_schema()

    def __repr__(self) -> str:
        width = max((len(name) for name in self.columns), default=0)
        lines = [f"Frame of {len(self):,} rows, {len(self.columns)} columns"]
        for name in self.columns:
            what = self._meaning(name)
            values = self._columns.values(name)[:_ROWS_SHOWN]
            if what == "category":
                values = np.array([*self._columns.categories(name), ""])[values]
            elif what == "time":
                values = values.view("datetime64[ns]")
            elif what == "duration":
                values = values.view("timedelta64[ns]")
            line = f"  {name:{width}}  {', '.join(str(each) for each in values)}"
            is_all = len(self) <= _ROWS_SHOWN and len(line) <= _LINE_WIDTH
            lines.append(line if is_all else f"{line[: _LINE_WIDTH - 4].rstrip(', ')} ...")
        return "\n".join(lines)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame):
            return NotImplemented
        return self.columns == other.columns and all(
            self._meaning(name) == other._meaning(name) and _is_same(self[name], other[name]) for name in self.columns
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        parts = []
        for name in self.columns:
            what = self._meaning(name)
            texts = self._columns.categories(name) if what == "category" else []
            parts.append((name, what, self._columns.values(name), texts))
        return (_from_parts, (parts,))

    def _meaning(self, name: str) -> str:
        try:
            return self._columns.meaning(name)
        except KeyError:
            raise KeyError(f'no column "{name}"; there are: {", ".join(self.columns)}') from None


def _is_same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    if a.dtype.kind != b.dtype.kind or len(a) != len(b):
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fmM"))


def _from_parts(parts: list[tuple[str, str, npt.NDArray[Any], list[str]]]) -> Frame:
    return Frame(_corro.columns_of([(n, w, np.ascontiguousarray(v), t) for n, w, v, t in parts]))


def _needed(library: str, method: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError as e:
        raise ImportError(f"{method} needs {library}: pip install {library}") from e
