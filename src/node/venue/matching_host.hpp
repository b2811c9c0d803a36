// SPDX-License-Identifier: Apache-2.0
// The host of one facility: numbers every command, sets its time, appends it to the journal, executes it in the
// facility, and releases the events in one total order.
//
// All sources of commands call `execute`, on the host's thread: the queue of a gateway on the same thread, the ring
// from another thread, a link from another process. The events go to one sink. Events that it cannot take wait in the
// host's backlog, as do events whose command is not yet durable. While the backlog is large the host has no room for
// commands.
//
// Threads: one. Limits: node/configuration/limits.hpp. Cost: one reading of the clock per command; no allocation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "base/archive.hpp"
#include "base/byte_stream.hpp"
#include "domain/command.hpp"
#include "facility/facility.hpp"
#include "io/loop/tick_clock.hpp"
#include "journal/commit_log.hpp"
#include "node/venue/event_backlog.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/venue_time.hpp"
#include "risk/throttle.hpp"

namespace corro::node {

class matching_host final : private facility::event_consumer {
 public:
    /// `clock` and `sink` outlive the host.
    matching_host(const facility::facility_options& options, std::span<const domain::instrument> instruments,
                  const io::tick_clock& clock, event_sink& sink);

    /// Counts every session's requests from now on, and rejects those above the limit. The reject reason is stored in
    /// the command, so that a replay rejects it too.
    void throttle(const risk::throttle_options& options, std::uint32_t sessions_count) {
        throttle_ = risk::throttle(options, sessions_count);
        last_requests_.resize(std::size_t{sessions_count} + 1);
        disconnect_cancels_.resize(std::size_t{sessions_count} + 1);
        connections_.resize(std::size_t{sessions_count} + 1);
    }

    /// Sessions with a cancel on disconnect according to the commands so far: their accounts, by session id; 0 for the
    /// others.
    [[nodiscard]] std::span<const domain::account_id> disconnect_cancels() const noexcept {
        return disconnect_cancels_;
    }
    /// For set-up: a cancel on disconnect from a snapshot. Sessions that no longer exist are ignored.
    void set_disconnect_cancel(domain::session_id session, domain::account_id account) noexcept {
        if (session.value < disconnect_cancels_.size()) disconnect_cancels_[session.value] = account;
    }

    /// Starts venue time: at the wall clock, but not before the last command or before `not_before`. It then follows
    /// the wall clock of `update_clock`, at a rate that differs by at most `slew_ppm`.
    /// @pre Once before the first `execute`, and again after a recovery.
    void start_clock(std::chrono::system_clock::time_point wall, std::uint32_t slew_ppm,
                     domain::time_ns not_before = {}) noexcept;
    /// Passes the current time of the wall clock.
    void update_clock(std::chrono::system_clock::time_point wall) noexcept;
    /// How far venue time was ahead of the wall clock at the last update; negative when behind. Any thread.
    [[nodiscard]] std::chrono::nanoseconds clock_offset() const noexcept {
        return std::chrono::nanoseconds(clock_offset_ns_.load(std::memory_order_relaxed));
    }
    /// The time of the last command; 0 before the first.
    [[nodiscard]] domain::time_ns last_time() const noexcept { return domain::time_ns{last_ns_}; }

    /// Sets the hash key of the facility's tables, before any command or load; changes no event.
    void set_hash_key(std::uint64_t key) noexcept { facility_.set_hash_key(key); }
    /// Limits the open orders of accounts without a limit of their own; 0 for no limit. The reject reason is stored in
    /// the command, so that the limit may change at a restart.
    void limit_open_orders(std::uint32_t orders_max) noexcept { open_orders_max_ = orders_max; }

    /// The number of the last sequenced request of each session, by id; 0 for none.
    [[nodiscard]] std::span<const std::uint32_t> last_requests() const noexcept { return last_requests_; }

    /// Writes the state that a host needs to continue from here. False when the sink fails.
    [[nodiscard]] bool save(base::byte_sink& sink);
    /// Loads a saved host. Its facility must have had the same options and instruments.
    /// @return  The facility's error; the host is then newly made.
    /// @pre     Nothing was executed yet (asserted).
    [[nodiscard]] std::error_code load(base::byte_source& source);

    /// Executes a command of the journal. Its events are released at once.
    void replay(const domain::command& command) noexcept;

    /// Sets the journal: from now on events are released when their command is durable. The journal outlives the host's
    /// last `execute` and `release`.
    void set_journal(journal::commit_log& journal) noexcept { journal_ = &journal; }
    /// Sets the receiver of events. @pre No event waits (asserted).
    void set_sink(event_sink& sink) noexcept;

    /// Whether another command may be executed: not too many events wait, the journal is not too far behind, and its
    /// next segment is not just being preallocated. True when the journal has failed or the disk is full, because
    /// commands are then refused, which needs no room.
    [[nodiscard]] bool has_room() const noexcept;

    /// Sequences and executes one command. False when the journal does not accept it, because it has failed, or
    /// because the disk is full and this is not a cancel; the command then has no effect and causes no event. The
    /// cancel for a lost connection, and the notes about it, may use the operators' reserve, connection_commands_max
    /// for each session. A note that ends the cancel on disconnect is refused when the cancel before it was refused,
    /// and a request when the name_order before it was refused.
    /// @pre has_room() (asserted).
    [[nodiscard]] bool execute(domain::command& command) noexcept;

    /// Passes waiting events that may leave to the sink. To be called when the sink has room again and when the
    /// journal has progressed.
    void release() noexcept;

    /// The number of events emitted, and the number released.
    [[nodiscard]] std::uint64_t emitted_count() const noexcept { return emitted_count_; }
    [[nodiscard]] std::uint64_t released_count() const noexcept { return emitted_count_ - backlog_.size(); }
    /// Commands sequenced so far.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
    /// Whether the journal has failed: waiting events will never leave.
    [[nodiscard]] bool failed() const noexcept { return journal_ != nullptr && journal_->failed(); }
    [[nodiscard]] const facility::facility& state() const noexcept { return facility_; }

 private:
    void consume(std::span<const domain::event> events) noexcept override;
    [[nodiscard]] bool journal_takes(const domain::command& command) noexcept;
    [[nodiscard]] bool may_use_reserve(domain::session_id session) noexcept;
    [[nodiscard]] bool append_to_journal(const domain::command& command) noexcept;
    void note_without_name(const domain::command& name) noexcept;
    [[nodiscard]] bool lacks_name(const domain::command& command) noexcept;
    [[nodiscard]] std::uint64_t releasable_sequence() const noexcept;
    void note(const domain::command& command) noexcept;
    void apply(const domain::command& command) noexcept;
    void emit_progress_marker(const domain::command& command) noexcept;
    void transfer(base::archive& a);
    [[nodiscard]] std::uint64_t elapsed_ns() const noexcept {
        return clock_.between_ns(start_ticks_, clock_.now_ticks());
    }

    /// What a session has missed on a full disk.
    struct connection_commands {
        std::uint64_t segment = 0;      ///< the journal's segment in which they were accepted
        std::uint32_t taken_count = 0;  ///< from the operators' reserve in that segment
        bool missed_cancel = false;     ///< the last cancel was not accepted
        /// The kind of the next request, when the name before it was not accepted.
        std::optional<domain::command_kind> nameless;
    };

    const io::tick_clock& clock_;
    event_sink* sink_;
    journal::commit_log* journal_ = nullptr;
    std::uint64_t start_ticks_;
    venue_time time_;  ///< its monotonic clock is the time since start_ticks_
    std::int64_t last_ns_ = 0;
    std::atomic<std::int64_t> clock_offset_ns_{0};  ///< written by the host's thread
    std::uint64_t sequence_ = 0;
    std::uint64_t emitted_count_ = 0;
    std::uint32_t open_orders_max_ = 0;
    std::size_t nameless_count_ = 0;  ///< sessions whose next request has no name
    std::vector<std::uint32_t> last_requests_;
    std::vector<domain::account_id> disconnect_cancels_;
    std::vector<connection_commands> connections_;  ///< by session
    risk::throttle throttle_{risk::throttle_options{}, 0};
    event_backlog backlog_;
    facility::facility facility_;
};

}  // namespace corro::node
