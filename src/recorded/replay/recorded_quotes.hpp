// SPDX-License-Identifier: Apache-2.0
// A LOBSTER message file and its book file (plain or packed) as one recording of quotes in the venue's units.
//
// Both files are read completely before anything is sent; errors, or rows that cannot be expressed at the venue, are
// reported with file and line.
//
// Limits: quote_rows_max rows of about 40 bytes, quotes_max quotes of 16 bytes: two to a row and level.
#pragma once

#include <cstdint>
#include <filesystem>

#include "domain/instrument.hpp"
#include "recorded/replay/order_record.hpp"
#include "recorded/replay/quote_record.hpp"

namespace corro::recorded::replay {

/// The contents of a pair of files.
struct quote_survey {
    std::uint64_t rows = 0;
    std::size_t depth = 0;  ///< levels of a side in the book file
    domain::price_nano price_low{};
    domain::price_nano price_high{};
    domain::price_nano price_step{};  ///< largest step of which all prices are multiples
    domain::time_ns first_time{};     ///< since midnight
};

/// Reads both files once, to find the requirements for an instrument.
/// @throws replay_error  As load_quotes, except errors that depend on an instrument.
[[nodiscard]] quote_survey survey_quotes(const std::filesystem::path& messages, const std::filesystem::path& books);

/// Reads a message file with its book file. All levels of the book file are used: LOBSTER's message file has the
/// messages of exactly these.
///
/// @param instrument  The venue's: its tick, lot, price band and largest order must suit every message.
/// @throws replay_error  A file that is missing, truncated or foreign, files of different length, no message, a price
///                       or size that the instrument does not accept, levels out of order, too many rows or quotes.
///                       The text has the file and the line.
[[nodiscard]] quote_recording load_quotes(const std::filesystem::path& messages, const std::filesystem::path& books,
                                          const domain::instrument& instrument);

}  // namespace corro::recorded::replay
