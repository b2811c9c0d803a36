// SPDX-License-Identifier: Apache-2.0
// Test support: a venue that is started.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/venue.hpp"

namespace corro::node::testing {

/// Starts as soon as it is made. @pre The context is not running.
struct started_venue : venue {
    started_venue(io::context& context, const configuration& c, order_entry_place place = order_entry_place::here,
                  std::function<void(const std::string&)> noticed = {})
        : venue(context, c, place, std::move(noticed)) {
        io::block_on(context, start());
    }
};

/// A facility for gateways.
struct started_facility final : started_venue {
    started_facility(io::context& context, const configuration& c)
        : started_venue(context, c, order_entry_place::over_gateways) {}
};

}  // namespace corro::node::testing
