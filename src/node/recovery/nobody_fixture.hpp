// SPDX-License-Identifier: Apache-2.0
// A receiver of events for hosts whose events nobody reads. For tests only.
#pragma once

#include <cstddef>
#include <span>

#include "domain/event.hpp"
#include "node/venue/event_sink.hpp"

namespace corro::node {

/// Takes every event and keeps none.
struct nobody final : event_sink {
    std::size_t accept(std::span<const domain::event> events) noexcept override { return events.size(); }
};

}  // namespace corro::node
