// The way from the gateways to the facility: a bounded ring of commands, with an awaitable consumer and awaitable room.
//
// Gateways never call the engine. They put a command here, and the node takes it out, on the same thread or on another.
// Beside the commands travel the time stamps of those requests that are sampled for the latency tables.
//
// Threads: one; gateways and facility share a context. Limits: the capacity given at construction, a power of two.
// Cost: a copy of 128 bytes in, one out; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/spsc_ring.hpp"
#include "domain/command.hpp"
#include "io/event.hpp"
#include "io/task.hpp"

namespace corro::gateway {

/// When one sampled request was received and decoded, in ticks of base::tsc_clock.
struct request_timing {
    std::uint64_t position = 0;  ///< of the command in the queue, from 0
    std::uint64_t received_ticks = 0;
    std::uint64_t decoded_ticks = 0;
    domain::command_kind kind{};
};

class command_queue {
 public:
    explicit command_queue(std::size_t capacity) : commands_(capacity), timings_(timings_capacity) {}

    /// Appends a command; false when the queue is full, which is normal under overload: wait for room and try again.
    [[nodiscard]] bool try_push(const domain::command& command) noexcept {
        if (!commands_.try_push(command)) return false;
        if (++pushed_ - popped_ == 1) filled_.set();
        return true;
    }

    /// The same for a sampled request. The sample is dropped when too many are under way; the command never is.
    [[nodiscard]] bool try_push(const domain::command& command, std::uint64_t received_ticks,
                                std::uint64_t decoded_ticks) noexcept {
        const std::uint64_t position = pushed_;
        if (!try_push(command)) return false;
        static_cast<void>(timings_.try_push({position, received_ticks, decoded_ticks, command.kind}));
        return true;
    }

    /// Takes the oldest command; false when there is none.
    [[nodiscard]] bool try_pop(domain::command& into) noexcept {
        if (!commands_.try_pop(into)) return false;
        ++popped_;
        return true;
    }

    /// The time stamps of the command popped last, if it was sampled.
    [[nodiscard]] bool try_pop_timing(request_timing& into) noexcept {
        if (!has_next_timing_) has_next_timing_ = timings_.try_pop(next_timing_);
        if (!has_next_timing_ || next_timing_.position + 1 != popped_) return false;
        into = next_timing_;
        has_next_timing_ = false;
        return true;
    }

    [[nodiscard]] bool empty() const noexcept { return pushed_ == popped_; }

    /// Commands that were ever appended, and that were ever taken. Everything popped has been answered when `room` is
    /// set the next time.
    [[nodiscard]] std::uint64_t pushed_count() const noexcept { return pushed_; }
    [[nodiscard]] std::uint64_t popped_count() const noexcept { return popped_; }

    /// Set when the queue turns from empty to not empty; awaited by the consumer.
    [[nodiscard]] io::auto_event& filled() noexcept { return filled_; }

    /// Set by the consumer after it has taken commands; awaited by producers that found the queue full.
    [[nodiscard]] io::manual_event& room() noexcept { return room_; }

 private:
    static constexpr std::size_t timings_capacity = 1U << 12U;

    base::spsc_ring<domain::command> commands_;
    base::spsc_ring<request_timing> timings_;
    request_timing next_timing_{};
    bool has_next_timing_ = false;
    std::uint64_t pushed_ = 0;
    std::uint64_t popped_ = 0;
    io::auto_event filled_;
    io::manual_event room_;
};

}  // namespace corro::gateway
