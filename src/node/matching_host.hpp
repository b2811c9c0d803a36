// The host of one shard: gives every command its place and time, has the facility execute it, and lets the events go
// out in one total order.
//
// Everybody who has commands calls `execute`, on the host's thread: the queue of a gateway on the same thread, the ring
// from another thread, a link from another process. The events go to one outlet; what it cannot take waits in the
// host's backlog, and while much waits there the host says that it has no room for commands.
//
// Threads: one. Limits: node/limits.hpp. Cost: one reading of the clock per command; no allocation.
#pragma once

#include <cstdint>
#include <span>

#include "base/tsc_clock.hpp"
#include "domain/command.hpp"
#include "facility/facility.hpp"
#include "node/event_backlog.hpp"
#include "node/event_outlet.hpp"

namespace corro::node {

class matching_host final : private facility::event_consumer {
 public:
    /// `clock` and `outlet` outlive the host.
    matching_host(const facility::facility_options& options, std::span<const domain::instrument> instruments,
                  const base::tsc_clock& clock, event_outlet& outlet);

    /// Whether another command may come: not too many events wait.
    [[nodiscard]] bool has_room() const noexcept;

    /// Sequences and executes one command. @pre has_room() (asserted).
    void execute(domain::command& command) noexcept;

    /// Offers the outlet what waits. To be called after the outlet has got room again.
    void release() noexcept;

    /// Events ever caused, and how many of them have left: their numbers count from 1.
    [[nodiscard]] std::uint64_t emitted_count() const noexcept { return emitted_count_; }
    [[nodiscard]] std::uint64_t released_count() const noexcept { return emitted_count_ - backlog_.size(); }
    /// Commands sequenced so far.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
    [[nodiscard]] const facility::facility& state() const noexcept { return facility_; }

 private:
    void consume(std::span<const domain::event> events) noexcept override;

    const base::tsc_clock& clock_;
    event_outlet& outlet_;
    std::uint64_t start_ticks_;
    std::int64_t start_ns_;  ///< wall-clock time at start_ticks_
    std::uint64_t sequence_ = 0;
    std::uint64_t emitted_count_ = 0;
    event_backlog backlog_;
    facility::facility facility_;
};

}  // namespace corro::node
