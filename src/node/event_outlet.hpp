// Where the events of a matching host go: the gateway and the feed of the same thread, a ring to another thread, or a
// link to other processes.
#pragma once

#include <cstddef>
#include <span>

#include "domain/event.hpp"

namespace corro::node {

struct event_outlet {
    /// Takes events in the host's total order.
    ///
    /// @return  How many were taken, from the front; the host keeps the rest and offers it again.
    virtual std::size_t accept(std::span<const domain::event> events) noexcept = 0;

 protected:
    ~event_outlet() = default;
};

}  // namespace corro::node
