"""Corro for Python: markets of agents in virtual time, the journals of a venue, and recorded order flow, as data frames.

>>> import corro
>>> market = corro.Market("config/markets/calm.toml", seed=1)
>>> market.run("60s").metrics["effective_spread_ticks"]
>>> day = corro.journal("runs/flash_crash-1")        # a run's folder, or a venue's configuration
>>> day.trades()["price"].mean()                      # columns are NumPy arrays
>>> polars.DataFrame(day.orders())                    # frames are Arrow tables, without a copy
>>> day.book_at("2026-01-05T14:30:10").bids["price"]
"""

from corro._corro import ConfigurationError, DataError
from corro._corro import version as __version__
from corro._frame import Frame
from corro._journal import Book, Instrument, Journal, journal
from corro._market import Market, Result, Scenario, scenario
from corro._recorded import dbn, dbn_definitions, itch, lobster, lobster_book
from corro._sweep import Comparison, compare, sweep

__all__ = [
    "Book",
    "Comparison",
    "ConfigurationError",
    "DataError",
    "Frame",
    "Instrument",
    "Journal",
    "Market",
    "Result",
    "Scenario",
    "__version__",
    "compare",
    "dbn",
    "dbn_definitions",
    "itch",
    "journal",
    "lobster",
    "lobster_book",
    "scenario",
    "sweep",
]
