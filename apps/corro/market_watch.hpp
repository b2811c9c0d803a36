// Follows the public feed and shows it: a picture ten times a second on a terminal, a line a second elsewhere.
#pragma once

#include <string>

#include "io/context.hpp"
#include "io/endpoint.hpp"
#include "io/task.hpp"
#include "market_view.hpp"

namespace corro::app {

struct watch_settings {
    watch_settings() noexcept {}

    io::endpoint feed;
    io::endpoint snapshot;
    std::string symbol;    ///< the instrument to show first; empty for the first of the venue
    std::string headline;  ///< above the picture
    bool picture = false;  ///< draw on the terminal
    double seconds = 0;    ///< end after so long; 0: when asked to
};

/// What was seen, for a closing summary.
struct watch_result {
    std::uint64_t messages = 0;
    std::uint64_t trades = 0;
    std::uint32_t joins = 0;  ///< how often the feed was joined; more than 1 after a lost or stale feed
    std::string error;        ///< why it ended, when it was not asked to
};

/// Runs until stopped, until the person leaves, or until the time is over. Joins again when the feed is lost.
[[nodiscard]] io::task<watch_result> watch_market(watch_settings settings);

}  // namespace corro::app
