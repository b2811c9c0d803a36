// SPDX-License-Identifier: Apache-2.0
// One book of a facility, as frames.
#pragma once

#include <cstdint>
#include <string>

#include "facility/facility.hpp"
#include "native/journal.hpp"

namespace corro::python {

/// @param depth  Levels of each side; 0 for all.
[[nodiscard]] book_facts book_of(const facility::facility& venue, const domain::instrument& of, std::uint32_t depth,
                                 bool with_orders);
[[nodiscard]] instrument_facts facts_of(const domain::instrument& i);
/// The instrument of that name; the only one if the name is empty. @throws argument_error
[[nodiscard]] const domain::instrument& instrument_of(const facility::facility& venue, const std::string& name);
/// The instrument of that name; null if no instrument has it.
[[nodiscard]] const domain::instrument* find_instrument(const facility::facility& venue, const std::string& name);

}  // namespace corro::python
