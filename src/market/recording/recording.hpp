// SPDX-License-Identifier: Apache-2.0
// The recording of a run: its commands as the venue's journal.
//
// `corro book`, `corro export` and `corro journal` read it like the journal of an exchange, with the configuration that
// `venue_toml` gives. Two runs of one seed write the same bytes.
//
// Threads: the context's.
// Cost:    128 bytes of disk for each command, and a copy.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/storage.hpp"
#include "market/market.hpp"

namespace corro::market {

struct recording_options {
    std::string directory;              ///< of the journal; must be new or empty
    std::string venue_name = "MARKET";  ///< at most ten characters
    /// Called now and then with the market's time.
    std::function<void(std::int64_t now_ns)> progress;
};

/// Runs the market until `until_ns`, and writes its commands to a journal.
///
/// @param world  With `keeps_commands`; outlives the task.
/// @return  No code when all is written.
/// @suspend While the disk is busy.
/// @throws  What a behaviour throws.
[[nodiscard]] io::task<journal::problem> record(market* world, std::int64_t until_ns, journal::storage* files,
                                                recording_options options);

/// The configuration with which the program reads the journal: TOML.
///
/// @param journal           Its folder, as in facility.journal: a name without quotation marks and backslashes.
/// @param instruments_toml  The [[instrument]] tables.
[[nodiscard]] std::string venue_toml(const market& world, const std::string& venue_name, const std::string& journal,
                                     const std::string& instruments_toml);

}  // namespace corro::market
