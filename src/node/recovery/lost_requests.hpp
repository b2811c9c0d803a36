// SPDX-License-Identifier: Apache-2.0
// Requests that a crash has lost in a venue of several partitions: found during the replay of the journals, rejected
// after it.
//
// One journal may end before another, so that a request is lost although a later one of its session is not. Every
// command records its session's previous submitted request, and its own index among the commands of its request.
// Submitted requests without a command are lost; requests that the gateway rejected are not. For commands of older
// versions without this record any request in a gap may be lost. At a reset of a session's numbers all its requests
// were answered in all partitions, and none is lost.
//
// Limits:  node/configuration/limits.hpp: lost_requests_max.
// Threads: one. Cost: per session its last request; an entry per gap, however many requests are in it.
// Source:  docs/spec/partitions.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "node/configuration/limits.hpp"
#include "node/recovery/partition_replay.hpp"

namespace corro::node {

class lost_requests final : public replay_listener {
 public:
    /// @param last_requests  By session, in the state from which the replay continues.
    /// @param saved          The last arrival in the state.
    lost_requests(std::size_t partitions_count, std::vector<std::uint32_t> last_requests, std::uint64_t saved);

    /// The next command, in the order of arrivals, which is also the order of a session's requests.
    void replayed(std::size_t partition, const domain::command& c) override;
    void replayed_partly(const domain::command& c) override;

    /// The commands that reject requests that may have been lost. Up to the end of the journal that ends first every
    /// journal is complete, so a request missing there was rejected, and the session was told. With more than `most`
    /// every session gets a share for its newest requests; `passed_over_count` has the number of the others.
    /// @pre  The replay is at the end.
    [[nodiscard]] std::deque<domain::command> refusals(std::size_t most = lost_requests_max);

    [[nodiscard]] std::uint64_t passed_over_count() const noexcept { return passed_over_count_; }
    /// The number of gaps.
    [[nodiscard]] std::size_t gaps_count() const noexcept { return gaps_.size(); }
    /// The last arrival in any journal.
    [[nodiscard]] std::uint64_t last_arrival() const noexcept { return last_arrival_; }

 private:
    struct gap {
        std::uint32_t last = 0;
        domain::account_id account{};
        std::uint64_t before = 0;  ///< the arrival of the session's next existing command, or of its own copies
    };
    struct session_past {
        std::uint32_t last = 0;   ///< request
        std::uint32_t legs = 0;   ///< its existing commands
        bool is_counted = false;  ///< whether all of them were replayed, and none is in the initial state
        bool has_more = false;    ///< whether further ones were submitted
        std::uint64_t reset = 0;  ///< the arrival of the last reset of the session's numbers
        std::size_t resets = 0;   ///< existing copies of that reset
        domain::account_id account{};
    };

    void begin_again(const domain::command& c);
    void add(std::uint32_t session, domain::account_id account, std::uint32_t first, std::uint32_t last,
             std::uint64_t before);
    void take_out(std::uint32_t session, std::uint32_t request);
    void forget_rejected();
    [[nodiscard]] std::uint64_t complete() const noexcept;

    std::vector<session_past> sessions_;
    std::vector<std::uint64_t> last_arrivals_;  ///< by partition
    std::uint64_t last_arrival_;                ///< in any journal
    std::uint64_t passed_over_count_ = 0;
    std::size_t gaps_before_forgetting_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, gap> gaps_;  ///< by session and first request
};

}  // namespace corro::node
