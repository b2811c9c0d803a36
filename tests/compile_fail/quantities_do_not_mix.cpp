// SPDX-License-Identifier: Apache-2.0
// Prices and quantities are both counts; their sum means nothing.
#include "domain/types.hpp"

using namespace corro::domain;

#ifdef CORRO_CONTROL
price_ticks sum(price_ticks a, price_ticks b) {
    return a + b;
}
#else
price_ticks sum(price_ticks a, quantity_lots b) {
    return a + b;
}
#endif
