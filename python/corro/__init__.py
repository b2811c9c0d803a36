# SPDX-License-Identifier: Apache-2.0
"""Corro for Python: markets of agents in virtual time, journals and recorded order flow as data frames, a client.

>>> import corro
>>> market = corro.Market("config/markets/calm.toml", seed=1)
>>> market.run("60s").metrics["effective_spread_ticks"]
>>> day = corro.journal("runs/flash_crash-1")        # a run's folder, or a venue's configuration
>>> day.trades()["price"].mean()                      # columns are NumPy arrays
>>> polars.DataFrame(day.orders())                    # frames are Arrow tables, without a copy
>>> day.book_at("2026-01-05T14:30:10").bids["price"]
"""

import importlib
from typing import TYPE_CHECKING, Any

from corro._corro import ConfigurationError, DataError
from corro._corro import version as __version__

if TYPE_CHECKING:
    from corro import _wire as wire
    from corro._agent import Actions, Agent, Agents, Answer, Batch, Crowd, Request
    from corro._books import Books, Levels, to_hftbacktest
    from corro._client import Client, Fill, LoggedOut, Order, Refused, Rejected, SessionError
    from corro._feed import Feed
    from corro._frame import Frame
    from corro._journal import Book, Instrument, Journal, journal
    from corro._market import Market, Result, Scenario, scenario
    from corro._recorded import dbn, dbn_definitions, itch, lobster, lobster_book
    from corro._seat import Quote, Seat
    from corro._serve import Account, Venue, default_configuration, serve
    from corro._sweep import Comparison, compare, sweep

# Each name is imported when it is used first, so that a program waits only for what it uses.
_PLACES = {
    "_agent": ("Actions", "Agent", "Agents", "Answer", "Batch", "Crowd", "Request"),
    "_books": ("Books", "Levels", "to_hftbacktest"),
    "_client": ("Client", "Fill", "LoggedOut", "Order", "Refused", "Rejected", "SessionError"),
    "_feed": ("Feed",),
    "_frame": ("Frame",),
    "_journal": ("Book", "Instrument", "Journal", "journal"),
    "_market": ("Market", "Result", "Scenario", "scenario"),
    "_recorded": ("dbn", "dbn_definitions", "itch", "lobster", "lobster_book"),
    "_seat": ("Quote", "Seat"),
    "_serve": ("Account", "Venue", "default_configuration", "serve"),
    "_sweep": ("Comparison", "compare", "sweep"),
}
_LATER = {name: place for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "wire":
        found: Any = importlib.import_module("corro._wire")
    elif name in _LATER:
        found = getattr(importlib.import_module(f"corro.{_LATER[name]}"), name)
    else:
        raise AttributeError(f"module 'corro' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Account",
    "Actions",
    "Agent",
    "Agents",
    "Answer",
    "Batch",
    "Book",
    "Books",
    "Client",
    "Comparison",
    "ConfigurationError",
    "Crowd",
    "DataError",
    "Feed",
    "Fill",
    "Frame",
    "Instrument",
    "Journal",
    "Levels",
    "LoggedOut",
    "Market",
    "Order",
    "Quote",
    "Refused",
    "Rejected",
    "Request",
    "Result",
    "Scenario",
    "Seat",
    "SessionError",
    "Venue",
    "__version__",
    "compare",
    "dbn",
    "dbn_definitions",
    "default_configuration",
    "itch",
    "journal",
    "lobster",
    "lobster_book",
    "scenario",
    "serve",
    "sweep",
    "to_hftbacktest",
    "wire",
]
