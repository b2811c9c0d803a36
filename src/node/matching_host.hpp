// The host of one shard: gives every command its place and time, has it journaled, has the facility execute it, and
// lets the events go out in one total order.
//
// Everybody who has commands calls `execute`, on the host's thread: the queue of a gateway on the same thread, the ring
// from another thread, a link from another process. The events go to one outlet. What it cannot take waits in the
// host's backlog, and so does everything whose command the journal does not vouch for yet; while much waits there the
// host says that it has no room for commands.
//
// Threads: one. Limits: node/limits.hpp. Cost: one reading of the clock per command; no allocation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <system_error>
#include <vector>

#include "base/archive.hpp"
#include "base/byte_stream.hpp"
#include "base/tsc_clock.hpp"
#include "domain/command.hpp"
#include "facility/facility.hpp"
#include "journal/writer.hpp"
#include "node/event_backlog.hpp"
#include "node/event_outlet.hpp"
#include "node/venue_time.hpp"
#include "risk/throttle.hpp"

namespace corro::node {

class matching_host final : private facility::event_consumer {
 public:
    /// `clock` and `outlet` outlive the host.
    matching_host(const facility::facility_options& options, std::span<const domain::instrument> instruments,
                  const base::tsc_clock& clock, event_outlet& outlet);

    /// From now on every session's requests are counted, and refused when they are too many. The refusal stands in the
    /// command, so that whoever executes it again refuses it too.
    void throttle(const risk::throttle_options& options, std::uint32_t sessions_count) {
        throttle_ = risk::throttle(options, sessions_count);
        last_requests_.resize(std::size_t{sessions_count} + 1);
        disconnect_cancels_.resize(std::size_t{sessions_count} + 1);
        connections_.resize(std::size_t{sessions_count} + 1);
    }

    /// Sessions whose orders are to be cancelled when they are not connected, as the commands so far have it: their
    /// accounts, by session id; 0 for the others.
    [[nodiscard]] std::span<const domain::account_id> disconnect_cancels() const noexcept {
        return disconnect_cancels_;
    }
    /// For set-up: what a snapshot has of it. Sessions that there are not any longer are left out.
    void set_disconnect_cancel(domain::session_id session, domain::account_id account) noexcept {
        if (session.value < disconnect_cancels_.size()) disconnect_cancels_[session.value] = account;
    }

    /// Begins the time of the commands: with the wall clock, but not before the last command or before `not_before`.
    /// From then on it follows the wall clock as `update_clock` shows it, at a rate that differs by `slew_ppm` at
    /// most.
    /// @pre Once before the first `execute`, and again after a recovery.
    void start_clock(std::chrono::system_clock::time_point wall, std::uint32_t slew_ppm,
                     domain::time_ns not_before = {}) noexcept;
    /// The wall clock shows this now.
    void update_clock(std::chrono::system_clock::time_point wall) noexcept;
    /// How far the time of the commands was ahead of the wall clock at the last look; negative: behind. Any thread.
    [[nodiscard]] std::chrono::nanoseconds clock_offset() const noexcept {
        return std::chrono::nanoseconds(clock_offset_ns_.load(std::memory_order_relaxed));
    }
    /// The time of the last command; 0 before the first.
    [[nodiscard]] domain::time_ns last_time() const noexcept { return domain::time_ns{last_ns_}; }

    /// Keys the facility's tables, as long as nothing was executed or loaded; changes no event.
    void set_hash_key(std::uint64_t key) noexcept { facility_.set_hash_key(key); }
    /// From now on no account without a limit of its own has more open orders than that, 0 for no limit. The refusal
    /// stands in the command, so that the limit may be another one after a restart.
    void limit_open_orders(std::uint32_t orders_max) noexcept { open_orders_max_ = orders_max; }

    /// The number of the last request of each session that was sequenced, by id; 0 for none.
    [[nodiscard]] std::span<const std::uint32_t> last_requests() const noexcept { return last_requests_; }

    /// Writes everything that a host must know to go on from here. False when the sink would not take it all.
    [[nodiscard]] bool save(base::byte_sink& sink);
    /// Becomes the host that was saved, as far as a facility of the same options and instruments was in it.
    /// @return  What is wrong, as the facility says it; then the host is as newly made.
    /// @pre     Nothing was executed yet (asserted).
    [[nodiscard]] std::error_code load(base::byte_source& source);

    /// Executes a command that was sequenced before, in another life of the host. Its events go out at once.
    void replay(const domain::command& command) noexcept;

    /// From now on commands are journaled there before their events may leave. The journal outlives the host's last
    /// `execute` and `release`.
    void set_journal(journal::writer& journal) noexcept { journal_ = &journal; }
    /// From now on events go there. @pre None waits (asserted).
    void set_outlet(event_outlet& outlet) noexcept;

    /// Whether another command may come: not too many events wait, the journal is not too far behind, and the room for
    /// its next segment is not just being made. True when the journal takes nothing any more, and when the disk is
    /// full: then commands are refused, which needs no room.
    [[nodiscard]] bool has_room() const noexcept;

    /// Sequences and executes one command. False: the journal does not take it, because it has failed or because the
    /// disk is full and this is not a cancel; the command then had no effect and causes no event. The cancel of a
    /// connection that was lost, and the notes about it, may use the operators' room, connection_commands_max of each
    /// session. A note that ends it is not taken when the cancel before it was not.
    /// @pre has_room() (asserted).
    [[nodiscard]] bool execute(domain::command& command) noexcept;

    /// Offers the outlet what waits and may leave. To be called after the outlet has got room again and after the
    /// journal has progressed.
    void release() noexcept;

    /// Events ever caused, and how many of them have left: their numbers count from 1.
    [[nodiscard]] std::uint64_t emitted_count() const noexcept { return emitted_count_; }
    [[nodiscard]] std::uint64_t released_count() const noexcept { return emitted_count_ - backlog_.size(); }
    /// Commands sequenced so far.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
    /// Whether the journal has failed: what waits for it will never leave.
    [[nodiscard]] bool failed() const noexcept { return journal_ != nullptr && journal_->failed(); }
    [[nodiscard]] const facility::facility& state() const noexcept { return facility_; }

 private:
    void consume(std::span<const domain::event> events) noexcept override;
    [[nodiscard]] bool journal_takes(const domain::command& command) noexcept;
    [[nodiscard]] bool may_use_reserve(domain::session_id session) noexcept;
    [[nodiscard]] bool append_to_journal(const domain::command& command) noexcept;
    [[nodiscard]] std::uint64_t releasable_sequence() const noexcept;
    void note(const domain::command& command) noexcept;
    void apply(const domain::command& command) noexcept;
    void emit_mark(const domain::command& command) noexcept;
    void transfer(base::archive& a);
    [[nodiscard]] std::uint64_t elapsed_ns() const noexcept {
        return clock_.between_ns(start_ticks_, clock_.now_ticks());
    }

    /// What the commands about a session's connection have met on a full disk.
    struct connection_commands {
        std::uint64_t segment = 0;      ///< of the journal, in which they were taken
        std::uint32_t taken_count = 0;  ///< out of the operators' room in that segment
        bool missed_cancel = false;     ///< the last cancel was not taken
    };

    const base::tsc_clock& clock_;
    event_outlet* outlet_;
    journal::writer* journal_ = nullptr;
    std::uint64_t start_ticks_;
    venue_time time_;  ///< its monotonic clock shows the time since start_ticks_
    std::int64_t last_ns_ = 0;
    std::atomic<std::int64_t> clock_offset_ns_{0};  ///< written by the host's thread
    std::uint64_t sequence_ = 0;
    std::uint64_t emitted_count_ = 0;
    std::uint32_t open_orders_max_ = 0;
    std::vector<std::uint32_t> last_requests_;
    std::vector<domain::account_id> disconnect_cancels_;
    std::vector<connection_commands> connections_;  ///< by session
    risk::throttle throttle_{risk::throttle_options{}, 0};
    event_backlog backlog_;
    facility::facility facility_;
};

}  // namespace corro::node
