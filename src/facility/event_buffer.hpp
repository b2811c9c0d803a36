// Where derived messages are written before a consumer sees them: a fixed array, handed over when it is full and at
// the end of each command.
//
// The last event of the running command always stays until the command ends, so that it can be marked as the last.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "domain/event.hpp"
#include "facility/limits.hpp"

namespace corro::facility {

/// Receives what the facility says, in total order. It must not call back into the facility.
struct event_consumer {
    /// @param events  From one event to events_buffered_max of them, all of one command; valid during the call.
    virtual void consume(std::span<const domain::event> events) noexcept = 0;

 protected:
    ~event_consumer() = default;
};

class event_buffer {
 public:
    explicit event_buffer(event_consumer& consumer) noexcept : consumer_(&consumer) {}

    void begin(domain::sequence_number command, domain::time_ns time) noexcept {
        command_ = command;
        time_ = time;
    }
    /// A fresh event with its header filled in; the caller writes its payload.
    [[nodiscard]] domain::event& append(domain::event_kind kind, domain::instrument_id instrument, domain::side side,
                                        domain::reject_reason reason = domain::reject_reason::none,
                                        std::uint8_t flags = 0) noexcept {
        if (count_ == events_.size()) [[unlikely]]
            hand_over();
        domain::event& e = events_[count_++];
        e.command = command_;
        e.time = time_;
        e.instrument = instrument;
        e.kind = kind;
        e.side = side;
        e.reason = reason;
        e.flags = flags;
        return e;
    }
    /// Marks the last event and hands everything over.
    void end() noexcept {
        if (count_ == 0) return;
        events_[count_ - 1].flags |= domain::event_flag::last_of_command;
        hand_over();
    }

 private:
    void hand_over() noexcept {
        consumer_->consume({events_.data(), count_});
        count_ = 0;
    }

    event_consumer* consumer_;
    domain::sequence_number command_{};
    domain::time_ns time_{};
    std::size_t count_ = 0;
    std::array<domain::event, events_buffered_max> events_{};
};

}  // namespace corro::facility
