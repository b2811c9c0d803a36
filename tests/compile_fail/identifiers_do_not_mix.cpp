// SPDX-License-Identifier: Apache-2.0
// An account and an instrument are both 32-bit numbers; comparing them is always a mistake.
#include "domain/types.hpp"

using namespace corro::domain;

#ifdef CORRO_CONTROL
bool same(account_id a, account_id b) {
    return a == b;
}
#else
bool same(account_id a, instrument_id b) {
    return a == b;
}
#endif
