// SPDX-License-Identifier: Apache-2.0
// A subscriber of a simulated venue's feed.
//
// It is a checker at the same time: a gap in the feed, or a message that contradicts a book, is a violation.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <memory>

#include "client/feed_session.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "simulation/findings.hpp"

namespace corro::simulation {

struct subscriber_settings {
    io::endpoint feed;
    io::endpoint snapshots;
    /// Whether the feed may lack the next message, because its distributor stores nothing.
    bool may_join_again = false;
    bool disk_may_fail = false;  ///< then the venue may end its feed
};

/// Follows the feed of a partition across the venue's lives, and rebuilds the books.
class subscriber {
 public:
    subscriber(const subscriber_settings& settings, findings* found) noexcept : settings_(settings), found_(found) {}

    [[nodiscard]] io::task<void> run();
    void end() noexcept { ending_ = true; }

    /// nullptr before the first join.
    [[nodiscard]] const client::feed_session* session() const noexcept { return session_.get(); }
    [[nodiscard]] std::uint64_t messages_count() const noexcept { return messages_count_; }

 private:
    io::task<bool> come();
    io::task<void> follow();

    subscriber_settings settings_;
    findings* found_;
    std::unique_ptr<client::feed_session> session_;
    std::uint64_t messages_count_ = 0;
    std::uint64_t joins_count_ = 0;  ///< after the first
    bool ending_ = false;
};

}  // namespace corro::simulation
