// SPDX-License-Identifier: Apache-2.0
// Which connection has which session.
//
// Threads: one context. Cost: one array access; leaving searches the connections that are there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "gateway/session/session.hpp"
#include "io/sync/event.hpp"

namespace corro::gateway {

class session_table {
 public:
    /// @param sessions_count    Session ids are 1 to this number.
    /// @param connections_reserved  Room that is reserved.
    session_table(std::uint32_t sessions_count, std::uint32_t connections_reserved)
        : records_(std::size_t{sessions_count} + 1) {
        connected_.reserve(connections_reserved);
    }

    /// Ids and one.
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(records_.size()); }
    /// @pre 1 to size() - 1 (asserted).
    [[nodiscard]] session_record& at(domain::session_id id) noexcept {
        CORRO_ASSERT(id.value != 0 && id.value < records_.size());
        return records_[id.value];
    }
    /// The connection that has the session; nullptr: none.
    [[nodiscard]] session* active(domain::session_id id) const noexcept { return records_[id.value].active; }

    /// All connections, also those that have not logged on, in no order.
    [[nodiscard]] std::span<session* const> connected() const noexcept { return connected_; }
    void add(session& s) { connected_.push_back(&s); }
    void remove(const session& s) noexcept { connected_.erase(std::find(connected_.begin(), connected_.end(), &s)); }

    /// The session has no connection any more.
    void free(domain::session_id id) noexcept {
        at(id).active = nullptr;
        freed_.set();
    }
    /// Set by `free`.
    [[nodiscard]] io::manual_event& freed() noexcept { return freed_; }

 private:
    std::vector<session_record> records_;  ///< by id
    std::vector<session*> connected_;
    io::manual_event freed_;
};

}  // namespace corro::gateway
