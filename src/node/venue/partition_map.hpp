// SPDX-License-Identifier: Apache-2.0
// Maps commands to partitions, and ids of orders and trades between a partition and the venue.
//
// A facility numbers its orders and trades by itself. To make the ids unique in the venue, the partition's index is
// added to ids in events and removed from ids in commands: five bits of an order id that no slot uses, and the
// topmost byte of a trade id. The ids of the first partition are the same as in a venue of one.
//
// Source: docs/spec/partitions.md. Threads: one. Cost: one lookup in an array per command; only `define` allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "node/configuration/configuration.hpp"
#include "node/configuration/limits.hpp"

namespace corro::node {

class partition_map {
 public:
    /// The result of `target_of` for a command to every partition.
    static constexpr std::size_t all = SIZE_MAX;

    /// @pre  The configuration has partitions.
    explicit partition_map(const configuration& c);

    [[nodiscard]] std::size_t partitions_count() const noexcept { return partitions_count_; }

    /// Adds an instrument, or an id that may become one.
    void define(domain::instrument_id id, std::size_t partition);
    /// Removes an id. @pre It was added.
    void forget(domain::instrument_id id) noexcept { by_instrument_[id.value] = nowhere; }
    /// The partition of an instrument; nothing when there is none.
    [[nodiscard]] std::optional<std::size_t> find(domain::instrument_id id) const noexcept {
        return home_of(id) == nowhere ? std::nullopt : std::optional<std::size_t>(home_of(id));
    }

    /// The partition of a gateway's command, or `all`. A command for an unknown instrument goes to the first one, which
    /// rejects it, unless it names an order only by a client's id.
    [[nodiscard]] std::size_t target_of(const domain::command& command) const noexcept;

    /// Converts the order ids of a command to those of its partition.
    static void enter_partition(domain::command& command, std::size_t partition) noexcept;
    /// Converts the ids of an event to those of the venue.
    static void leave_partition(domain::event& event, std::size_t partition) noexcept;

 private:
    [[nodiscard]] std::size_t home_of(domain::instrument_id id) const noexcept {
        return id.value < by_instrument_.size() ? by_instrument_[id.value] : nowhere;
    }
    [[nodiscard]] std::size_t home_of(domain::order_id id) const noexcept;

    static constexpr std::uint8_t nowhere = 0xff;
    static_assert(partitions_max < nowhere);

    std::size_t partitions_count_;
    std::vector<std::uint8_t> by_instrument_;  ///< by id
};

}  // namespace corro::node
