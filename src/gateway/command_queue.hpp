// SPDX-License-Identifier: Apache-2.0
// The way from the gateways to the facility: a bounded ring of commands, with an awaitable consumer and awaitable room.
//
// Gateways do not know the engine. They put a command here, and the node takes it out, on the same thread or another.
// With a direct consumer (`set_direct_consumer`) a push into the empty queue calls it, and returns when the command has
// been executed. Time stamps of sampled requests stay on the gateways' side, for the latency tables.
//
// Threads: one for the gateways' side, one for the consumer's (`try_pop`, `empty`); the same one unless a bell is
// given. Limits: the capacity given at construction, a power of two. Cost: a copy of 128 bytes in, one out; no
// allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/spsc_ring.hpp"
#include "domain/command.hpp"
#include "domain/prefetch_hint.hpp"
#include "io/sync/event.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

/// When one sampled request was received and decoded, in ticks of io::tick_clock.
struct request_timing {
    std::uint64_t position = 0;  ///< of the command in the queue, from 0
    std::uint64_t received_ticks = 0;
    std::uint64_t decoded_ticks = 0;
    domain::command_kind kind{};
};

/// Takes commands on the gateways' own thread, as soon as they come.
struct command_consumer {
    /// @return  False: not now; the command waits in the queue. Otherwise everything that it causes is delivered, or
    ///          waits for the journal and is delivered later.
    virtual bool take(const domain::command& command) noexcept = 0;
    /// These commands are likely to come next.
    virtual void expect(std::span<domain::prefetch_hint> coming) noexcept = 0;

 protected:
    ~command_consumer() = default;
};

class command_queue {
 public:
    explicit command_queue(std::size_t capacity) : commands_(capacity), timings_(timings_capacity) {}

    // --- The gateways' side -----------------------------------------------------------------------------------------

    /// Appends a command; false when the queue is full, which is normal under overload: wait for room and try again.
    [[nodiscard]] bool try_push(const domain::command& command) noexcept {
        // Never before commands that wait.
        if (taker_ != nullptr && commands_.empty()) {
            ++pushed_;
            if (!taker_->take(command)) static_cast<void>(commands_.try_push(command));
            filled_.set();
            return true;
        }
        if (!commands_.try_push(command)) return false;
        ++pushed_;
        if (bell_ != nullptr) {
            bell_->set();
        } else {
            filled_.set();
        }
        return true;
    }

    /// Whether hints are of use: a command that is pushed now is executed at once.
    [[nodiscard]] bool calls_consumer() noexcept { return taker_ != nullptr && commands_.empty(); }
    /// These commands are likely to be pushed next. @pre calls_consumer().
    void expect(std::span<domain::prefetch_hint> coming) noexcept { taker_->expect(coming); }

    /// The same for a sampled request. The sample is dropped when too many are under way; the command never is.
    [[nodiscard]] bool try_push(const domain::command& command, std::uint64_t received_ticks,
                                std::uint64_t decoded_ticks) noexcept {
        if (commands_.producer_space() == 0) return false;
        // First, because the command may be answered before its push returns.
        static_cast<void>(timings_.try_push({pushed_, received_ticks, decoded_ticks, command.kind}));
        return try_push(command);
    }

    /// The time stamps of the oldest sampled request that is answered; each once.
    [[nodiscard]] bool try_pop_timing(request_timing& into) noexcept {
        if (!has_next_timing_) has_next_timing_ = timings_.try_pop(next_timing_);
        if (!has_next_timing_ || next_timing_.position >= answered_) return false;
        into = next_timing_;
        has_next_timing_ = false;
        return true;
    }

    /// Whether a command would be appended now.
    [[nodiscard]] bool has_room() noexcept { return commands_.producer_space() != 0; }

    /// Commands that were ever appended, and how many of them are answered: their private events have been delivered.
    [[nodiscard]] std::uint64_t pushed_count() const noexcept { return pushed_; }
    [[nodiscard]] std::uint64_t answered_count() const noexcept { return answered_; }
    /// Set by the deliverer of the answers, who then wakes waiting sessions with `room().set()`.
    void set_answered(std::uint64_t count) noexcept { answered_ = count; }

    /// Set after commands were taken or answered; awaited by producers that found the queue full, and by sessions that
    /// wait for answers.
    [[nodiscard]] io::manual_event& room() noexcept { return room_; }

    /// From now on a push rings `bell` instead of setting `filled`: for a consumer on another context. nullptr: sets
    /// `filled` again.
    void set_bell(io::remote_event* bell) noexcept { bell_ = bell; }

    /// From now on a command that finds the queue empty goes directly to `taker`, which outlives the queue's last push;
    /// `filled` is set all the same. For a consumer on the gateways' thread. nullptr disables this.
    void set_direct_consumer(command_consumer* taker) noexcept { taker_ = taker; }

    // --- The consumer's side ----------------------------------------------------------------------------------------

    /// Takes the oldest command; false when there is none.
    [[nodiscard]] bool try_pop(domain::command& into) noexcept { return commands_.try_pop(into); }

    /// Commands that wait, oldest first; not all of them when they go across the end of the ring. Each may be read
    /// until it is taken.
    [[nodiscard]] std::span<const domain::command> waiting() noexcept { return commands_.peek(); }

    [[nodiscard]] bool empty() const noexcept { return commands_.empty(); }

    /// Set by every push; awaited by a consumer on the gateways' context.
    [[nodiscard]] io::auto_event& filled() noexcept { return filled_; }

 private:
    static constexpr std::size_t timings_capacity = 1U << 12U;

    base::spsc_ring<domain::command> commands_;
    base::spsc_ring<request_timing> timings_;
    request_timing next_timing_{};
    bool has_next_timing_ = false;
    std::uint64_t pushed_ = 0;
    std::uint64_t answered_ = 0;
    io::remote_event* bell_ = nullptr;
    command_consumer* taker_ = nullptr;
    io::auto_event filled_;
    io::manual_event room_;
};

}  // namespace corro::gateway
