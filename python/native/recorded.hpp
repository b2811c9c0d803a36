// SPDX-License-Identifier: Apache-2.0
// Recorded order flow as frames: Databento DBN, LOBSTER, Nasdaq ITCH; plain, gzip or zstd.
//
// Units: prices are decimals, times nanoseconds: since the epoch for DBN, since midnight for the others.
// Cost: the frame's memory, in proportion to the records that are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "native/errors.hpp"
#include "native/frame.hpp"
#include "native/journal.hpp"

namespace corro::python {

/// The market-by-order records of a DBN file.
/// @param instrument  Only records of this instrument.
/// @throws data_error with file, place and reason; what `interrupted` throws
[[nodiscard]] frame_pointer read_dbn(const std::string& path, std::optional<std::uint32_t> instrument,
                                     const interruption& interrupted);
/// Its instrument definitions. @throws as above
[[nodiscard]] frame_pointer read_dbn_definitions(const std::string& path, const interruption& interrupted);

/// A LOBSTER message file. @throws as above
[[nodiscard]] frame_pointer read_lobster(const std::string& path, const interruption& interrupted);
/// A LOBSTER orderbook file: four columns for each level. @throws as above
[[nodiscard]] frame_pointer read_lobster_book(const std::string& path, const interruption& interrupted);

/// The orders and trades of a Nasdaq TotalView-ITCH 5.0 file.
/// @param stock  Only messages about this stock; empty for all.
/// @throws as above
[[nodiscard]] frame_pointer read_itch(const std::string& path, const std::string& stock,
                                      const interruption& interrupted);

}  // namespace corro::python
