// SPDX-License-Identifier: Apache-2.0
#include "journal/identity.hpp"

#include <fmt/format.h>

namespace corro::journal {

std::string describe(const identity& who) {
    return fmt::format("venue \"{}\", partition {}, instruments {:016x}", who.name.view(), who.partition,
                       who.fingerprint);
}

}  // namespace corro::journal
