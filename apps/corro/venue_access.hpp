// How the programs that go to a venue find it, and what they say when they cannot get in.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "node/configuration.hpp"

namespace corro::app {

/// Where one feed is to be had.
struct feed_addresses {
    std::string feed;
    std::string snapshot;
};

/// The feed that has the instrument. A venue with segments has one for each; without a symbol, or with one that the
/// configuration does not have, it is the first segment's.
[[nodiscard]] feed_addresses feed_of(const node::configuration& c, std::string_view symbol);

/// What to do about a logon that failed: a sentence, or nothing where the error says it all.
[[nodiscard]] std::string_view logon_advice(std::error_code why) noexcept;

}  // namespace corro::app
