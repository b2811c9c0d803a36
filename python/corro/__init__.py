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
from corro._agent import Actions, Agent, Agents, Answer, Batch, Crowd, Request
from corro._books import Books, Levels, to_hftbacktest
from corro._frame import Frame
from corro._journal import Book, Instrument, Journal, journal
from corro._market import Market, Result, Scenario, scenario
from corro._recorded import dbn, dbn_definitions, itch, lobster, lobster_book
from corro._seat import Quote, Seat
from corro._sweep import Comparison, compare, sweep

if TYPE_CHECKING:
    from corro import _wire as wire
    from corro._client import Client, Fill, LoggedOut, Order, Refused, Rejected, SessionError
    from corro._feed import Feed
    from corro._serve import Account, Venue, default_configuration, serve

# What needs asyncio is imported when it is used first.
_LATER = {
    **dict.fromkeys(("Client", "Fill", "LoggedOut", "Order", "Refused", "Rejected", "SessionError"), "corro._client"),
    **dict.fromkeys(("Account", "Venue", "default_configuration", "serve"), "corro._serve"),
    "Feed": "corro._feed",
}


def __getattr__(name: str) -> Any:
    if name == "wire":
        found = importlib.import_module("corro._wire")
    elif name in _LATER:
        found = getattr(importlib.import_module(_LATER[name]), name)
    else:
        raise AttributeError(f"module 'corro' has no attribute {name!r}")
    globals()[name] = found
    return found


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
