// Which segment a command is for, and what orders and trades are called outside of it.
//
// A facility numbers its orders and trades by itself. So that a number means one thing in the whole venue, the
// segment's index joins it on the way out and leaves it on the way in: five bits of an order's id that no slot uses,
// and the topmost byte of a trade's. The first segment's numbers are what they would be in a venue of one.
//
// Source: docs/spec/segments.md. Threads: immutable. Cost: one lookup in an array per command; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "node/configuration.hpp"
#include "node/limits.hpp"

namespace corro::node {

class segment_map {
 public:
    /// What `target_of` says of a command that concerns every segment.
    static constexpr std::size_t all = SIZE_MAX;

    /// @pre  The configuration has segments.
    explicit segment_map(const configuration& c);

    [[nodiscard]] std::size_t segments_count() const noexcept { return segments_count_; }

    /// The segment of a command as a gateway made it, or `all`. What belongs nowhere goes to the first, which refuses
    /// it.
    [[nodiscard]] std::size_t target_of(const domain::command& command) const noexcept;

    /// Calls the orders of a command as its segment does.
    static void enter_segment(domain::command& command, std::size_t segment) noexcept;
    /// Calls the orders and trades of an event as the venue does.
    static void leave_segment(domain::event& event, std::size_t segment) noexcept;

 private:
    [[nodiscard]] std::size_t home_of(domain::instrument_id id) const noexcept {
        return id.value < by_instrument_.size() ? by_instrument_[id.value] : nowhere;
    }
    [[nodiscard]] std::size_t home_of(domain::order_id id) const noexcept;

    static constexpr std::uint8_t nowhere = 0xff;
    static_assert(segments_max < nowhere);

    std::size_t segments_count_;
    std::vector<std::uint8_t> by_instrument_;  ///< by id
};

}  // namespace corro::node
