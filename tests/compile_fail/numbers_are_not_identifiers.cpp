// SPDX-License-Identifier: Apache-2.0
// A number becomes an identifier only by an explicit conversion.
#include "domain/types.hpp"

using namespace corro::domain;

void cancel(order_id order);

#ifdef CORRO_CONTROL
void cancel_first() {
    cancel(order_id{1});
}
#else
void cancel_first() {
    cancel(1);
}
#endif
