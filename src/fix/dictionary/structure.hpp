// SPDX-License-Identifier: Apache-2.0
// Checks of messages that need no dictionary: what goes into the header, what comes once, what a group counts.
//
//     if (const std::optional<fix::message_problem> problem = fix::check_structure(order)) session.reject(*problem,
//     now);
//
// The first field of these counts:
//
//   14  a field of the header behind one of the body, or one of the body behind one of the trailer
//   13  a tag that is there twice: in the message outside of repeating groups, or in one entry of a group
//   16  NumInGroup is not the number of entries behind it (6: it is no number)
//    2  a field that the standard defines for other messages only. This is known of session messages, and in messages
//       of orders, quotes, positions, reference and market data of those fields that make a difference there
//    0  a field of a session message that its version has in no message, or that users define
//
// Groups are those that the standard has in these messages, up to FIX 5.0 SP2. Tags that are not part of it may stand
// in their entries. Tags of extension packs may be there twice, because they may belong to a group that is not known.
//
// Threads: any; pure function.
// Cost:    no allocation. One pass with one load from a table for each field; a second one if a tag may be there twice
//          or a group is there.
// Source:  FIX session layer, "Session rejects"; FIX 4.2, 4.4, 5.0 to 5.0 SP2, volumes 2 to 6.
#pragma once

#include <optional>

#include "fix/codec/field_index.hpp"

namespace corro::fix {

/// @param message  Indexed without a problem.
/// @return         The first problem, if any.
[[nodiscard]] std::optional<message_problem> check_structure(const field_index& message) noexcept;

}  // namespace corro::fix
