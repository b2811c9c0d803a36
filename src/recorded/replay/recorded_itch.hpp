// SPDX-License-Identifier: Apache-2.0
// A day of Nasdaq TotalView-ITCH as the order records of one stock.
//
// The file names no aggressors, only the resting orders that they execute: each execution becomes an aggressor of its
// own, immediate or cancel, for these lots at the price of the order. A replaced order is cancelled, and a new one is
// added. What no displayed order explains is counted and not replayed: trades with hidden orders, crosses, and
// executions at another price than the order's, which take their lots from it as a cancel does.
//
// A file is surveyed before anything is sent, as for DBN.
//
// Limits: recorded_orders_max. Memory does not depend on the size of the file.
// Source: docs/howto/replay.md; Nasdaq, "TotalView-ITCH 5.0".
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "domain/instrument.hpp"
#include "recorded/replay/order_record.hpp"
#include "recorded/replay/recorded_orders.hpp"

namespace corro::recorded::replay {

/// Messages about the stock that are not replayed.
struct itch_facts {
    std::uint64_t hidden = 0;  ///< trades with hidden orders
    std::uint64_t hidden_lots = 0;
    std::uint64_t crosses = 0;
    std::uint64_t cross_lots = 0;
    std::uint64_t other_price = 0;  ///< executions at another price than the order's
    std::uint64_t other_price_lots = 0;
    std::uint64_t broken = 0;   ///< trades that were broken later
    std::uint64_t actions = 0;  ///< halts, pauses, and their ends
};

/// The messages of one stock. `recorded_instrument` is its locate number, `name` its name.
struct itch_survey : order_survey {
    itch_facts not_replayed;
};

/// Reads the file once.
///
/// @param stock  The name of the stock; empty for the only one that has orders.
/// @throws replay_error  The file is missing, truncated or foreign; it has no order of the stock, or orders of several
///                       stocks and none was chosen; a message contradicts an earlier one. The text has the file and
///                       the position.
[[nodiscard]] itch_survey survey_itch(const std::filesystem::path& file, const std::string& stock);

/// The records of the surveyed stock. Each is numbered by its message.
/// @throws replay_error here and from the source, as for survey_itch.
[[nodiscard]] std::unique_ptr<order_record_source> open_itch(const std::filesystem::path& file,
                                                             const itch_survey& survey,
                                                             const domain::instrument& instrument);

}  // namespace corro::recorded::replay
