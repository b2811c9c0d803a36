// Follows the public feed and shows it: a picture ten times a second on a terminal, a line a second elsewhere.
#pragma once

#include <string>

#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "market_view.hpp"

namespace corro::app {

struct watch_settings {
    watch_settings() noexcept {}

    io::endpoint feed;
    io::endpoint snapshot;
    std::string symbol;      ///< the instrument to show first; empty for the first of the venue
    std::string headline;    ///< above the picture
    bool picture = false;    ///< draw on the terminal
    double seconds = 0;      ///< end after so long; 0: when asked to
    double patience_s = 30;  ///< how long it tries to come back when the feed is lost
};

/// What was seen, for a closing summary.
struct watch_result {
    std::uint64_t messages = 0;
    std::uint64_t trades = 0;
    std::uint32_t joins = 0;    ///< from a snapshot; more than 1 when messages were missed
    std::uint32_t resumes = 0;  ///< after a lost connection, with nothing missed
    double away_s_max = 0;      ///< the longest time without the feed
    std::string error;          ///< why it ended, when it was not asked to
};

/// Runs until stopped, until the person leaves, or until the time is over. When the feed is lost, goes on with
/// the message after the last one as soon as it can, or from a snapshot when that message is no longer kept; a line on
/// standard error says so when there is no picture.
[[nodiscard]] io::task<watch_result> watch_market(watch_settings settings);

}  // namespace corro::app
