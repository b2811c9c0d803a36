// SPDX-License-Identifier: Apache-2.0
// A market whose agents trade with a whole venue: sessions of the client library over a simulated network, the venue's
// gateway, its journal on a simulated disk, its feed.
//
// The agents are those of any other market, unchanged. Where a market by itself executes a request when it has crossed
// its link, here the request is encoded, travels as bytes of its agent's session, is sequenced and journaled by the
// venue that `corro serve` runs, and is answered by encoded messages; agents with the same link are on one host, and
// see the books that the feed session of that host has.
//
// With constant links both ways of running give the same commands at the same times, the same fills and the same state
// hash. docs/spec/market.md states the conditions.
//
//     market::whole_market whole(std::move(world), market::whole_options());
//     whole.run(60'000'000'000);
//
// Units:   nanoseconds since the market's start.
// Limits:  those of the venue; links are constant or uniform.
// Threads: one.
// Cost:    that of the simulated world: each request is encoded, sent, decoded, journaled and answered.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "journal/writer.hpp"
#include "market/market.hpp"

namespace corro::market {

/// How the venue of a whole market runs.
struct whole_options {
    whole_options() noexcept {}  // g++ 12 mistreats aggregate temporaries

    /// When events may leave, see journal::durability. With `group` answers wait for the simulated disk.
    journal::durability durability = journal::durability::async;
};

class whole_market {
 public:
    /// Starts the venue and logs on the agents.
    /// @param agents  Has not run. Its `start_ns` is not used: the clock of the venue's host is `start_ns()`.
    /// @throws std::runtime_error when the market needs what a whole venue does not offer: see docs/spec/market.md.
    whole_market(std::unique_ptr<market> agents, const whole_options& how);
    /// Closes the venue, if it is not closed.
    ~whole_market();
    whole_market(const whole_market&) = delete;
    whole_market& operator=(const whole_market&) = delete;

    /// Lets everything happen until `until_ns`, inclusive.
    /// @throws std::runtime_error when a session ends; what a behaviour throws.
    void run(std::int64_t until_ns);
    /// Closes the venue in order, as at the end of a day; orders stay. @throws std::runtime_error
    void close();
    /// All commands of the venue's journal: those of the agents, and the notes of their sessions. @pre Closed.
    /// @throws std::runtime_error when the journal cannot be read.
    [[nodiscard]] std::vector<domain::command> commands();

    /// The market of the agents, whose facility is elsewhere.
    [[nodiscard]] market& agents() noexcept;
    /// Time of day at the market's start, in nanoseconds since the epoch.
    [[nodiscard]] static std::int64_t start_ns() noexcept;
    /// Of the venue.
    [[nodiscard]] std::uint64_t state_hash() const;
    /// Commands that the venue has executed.
    [[nodiscard]] std::uint64_t commands_count() const;
    /// A digest of everything that has arrived anywhere: times and bytes.
    [[nodiscard]] std::uint64_t digest() const noexcept;

 private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

/// Whether the venue executed, at the same times and in the same order, what the market executed: the commands of the
/// journal without the notes of sessions against `direct`, whose market has begun at whole_market::start_ns().
/// @return A sentence with the first difference; empty for none.
[[nodiscard]] std::string difference_of(std::span<const domain::command> direct,
                                        std::span<const domain::command> whole);

}  // namespace corro::market
