// SPDX-License-Identifier: Apache-2.0
// Follows the public feed and shows it: a picture ten times a second on a terminal, otherwise a line per second.
#pragma once

#include <string>
#include <vector>

#include "client/venue_endpoint.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "market_view.hpp"

namespace corro::app {

struct watch_settings {
    watch_settings() noexcept {}

    client::venue_endpoint feed;
    io::endpoint snapshot;
    std::string symbol;                ///< the first instrument to show; empty: the venue's first
    std::string headline;              ///< above the picture
    std::vector<std::string> details;  ///< lines that the key `d` shows
    bool picture = false;              ///< draw on the terminal
    double seconds = 0;                ///< duration; 0: until asked to end
    double patience_s = 30;            ///< how long to retry a lost feed
    double wait_s = 0;                 ///< how long to wait for a venue that is starting
};

/// The counts of the closing summary.
struct watch_result {
    std::uint64_t messages = 0;
    std::uint64_t trades = 0;
    std::uint32_t joins = 0;    ///< from a snapshot; above 1 if messages were missed
    std::uint32_t resumes = 0;  ///< after a lost connection, without missed messages
    double away_s_max = 0;      ///< the longest time without the feed
    std::string error;          ///< why it ended, if it was not asked to
};

/// Runs until it is stopped, until the user leaves, or until the time is over. After a lost feed it continues with the
/// next message, or from a snapshot if the venue no longer has that message. Without a picture it prints this on
/// standard error.
[[nodiscard]] io::task<watch_result> watch_market(watch_settings settings);

/// The same, for a scope: the result goes to `into`.
[[nodiscard]] io::task<void> watch_market_into(watch_settings settings, watch_result* into);

}  // namespace corro::app
