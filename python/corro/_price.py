# SPDX-License-Identifier: Apache-2.0
"""Prices: what people give for one, as billionths of the currency."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

Price: TypeAlias = "float | int | str | Decimal"
"""A price in the instrument's currency."""


_EXACT = 1e6  # below that, a double times a billion rounds to the decimal that it shows


def nano(argument: str, price: Price) -> int:
    """A price in billionths; `argument` is its name, for messages."""
    if type(price) is float and -_EXACT < price < _EXACT:
        return round(price * 1e9)
    if isinstance(price, bool) or not isinstance(price, (int, float, str, Decimal)):
        try:
            price = float(price)
        except (TypeError, ValueError):
            raise TypeError(f"{argument}={price!r}: give a number, a text such as \"5998.75\", or a Decimal") from None
    if isinstance(price, float):
        if not math.isfinite(price):
            raise ValueError(f"{argument}={price!r} is no price; leave it out for an order without a limit")
        price = Decimal(repr(float(price))).quantize(Decimal("1e-9"))
    try:
        exact = Decimal(price).scaleb(9)
    except InvalidOperation:
        raise ValueError(f'{argument}="{price}" is no decimal') from None
    if not exact.is_finite() or exact != exact.to_integral_value() or not -(2**63) < exact < 2**63:
        raise ValueError(f"{argument}={price}: prices have at most nine decimals, and are below 9,223,372,036")
    return int(exact)
