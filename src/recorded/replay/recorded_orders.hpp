// SPDX-License-Identifier: Apache-2.0
// Market-by-order files (Databento DBN, packed or plain) as the order records of one instrument.
//
// A file is surveyed before anything is sent: it is read completely, and errors, or records that cannot be expressed
// at the venue, are reported with their position. A survey costs one pass over the files.
//
// Limits: those of the readers; memory does not depend on the size of the files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/instrument.hpp"
#include "recorded/replay/order_flow_planner.hpp"
#include "recorded/replay/order_record.hpp"

namespace corro::recorded::replay {

/// The records of one instrument in a set of files.
struct order_survey {
    std::uint32_t recorded_instrument = 0;  ///< in the files
    std::string name;                       ///< of the instrument, where the files have one symbol; otherwise empty
    std::uint64_t records = 0;
    std::uint64_t snapshot_records = 0;
    std::uint64_t adds = 0;
    opening how = opening::continuous;
    domain::price_nano price_low{};  ///< over all orders
    domain::price_nano price_high{};
    domain::price_nano price_step{};  ///< largest step of which all prices are multiples
    std::uint32_t size_max = 0;
    domain::time_ns first_time{};  ///< of the live records
    domain::time_ns last_time{};
};

/// Reads all files once.
///
/// @param recorded_instrument  The instrument of the files; none for the only one.
/// @throws replay_error  A file that is missing, truncated or foreign, or has records of several instruments and none
///                       was chosen, or none of the chosen one, or no order. The text has the file and the position.
[[nodiscard]] order_survey survey_orders(const std::vector<std::filesystem::path>& files,
                                         std::optional<std::uint32_t> recorded_instrument);

/// Checks that the venue's instrument accepts the recorded orders: tick, price band and largest order.
/// @throws replay_error with the mismatch.
void require_fit(const order_survey& survey, const domain::instrument& instrument);

/// The records of the surveyed instrument, in the order of the files.
/// @throws replay_error here and from the source, as for survey_orders.
[[nodiscard]] std::unique_ptr<order_record_source> open_orders(std::vector<std::filesystem::path> files,
                                                               const order_survey& survey,
                                                               const domain::instrument& instrument);

}  // namespace corro::recorded::replay
