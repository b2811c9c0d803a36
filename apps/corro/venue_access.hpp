// Finds the ports of a venue, and gives advice on failed logons.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "node/configuration.hpp"

namespace corro::app {

/// The addresses of one feed.
struct feed_addresses {
    std::string feed;
    std::string snapshot;
};

/// Returns the feed of the instrument. A venue with segments has one feed per segment. An empty or unknown symbol means
/// the first segment's feed.
[[nodiscard]] feed_addresses feed_of(const node::configuration& c, std::string_view symbol);

/// Returns advice on a failed logon; empty if the error is clear.
[[nodiscard]] std::string_view logon_advice(std::error_code why) noexcept;

}  // namespace corro::app
