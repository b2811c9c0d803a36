// Where derived messages are written before a consumer sees them: a fixed array, handed over when it is full and at
// the end of each command.
//
// The last public event of the running command and what follows it always stay until the command ends, so that the last
// event and the last public one can be marked. Few private events follow each other: at most four per fill, and the
// answers around them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "domain/command.hpp"
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

    /// @param command  Must stay as it is until `end`.
    void begin(const domain::command& command) noexcept { command_ = &command; }
    /// A fresh event with its header filled in; the caller writes its payload.
    [[nodiscard]] domain::event& append(domain::event_kind kind, domain::instrument_id instrument, domain::side side,
                                        domain::reject_reason reason = domain::reject_reason::none,
                                        std::uint8_t flags = 0) noexcept {
        if (count_ == events_.size()) [[unlikely]]
            make_room();
        domain::event& e = events_[count_++];
        e.command = command_->sequence;
        e.time = command_->time;
        e.instrument = instrument;
        e.kind = kind;
        e.side = side;
        e.reason = reason;
        e.flags = flags;
        return e;
    }
    /// Marks the last event and the last public one, and hands everything over.
    void end() noexcept {
        if (count_ == 0) return;
        events_[count_ - 1].flags |= domain::event_flag::last_of_command;
        if (const std::size_t at = last_public(); at != count_)
            events_[at].flags |= domain::event_flag::last_of_command;
        hand_over(count_);
    }

 private:
    /// Index of the last public event; `count_` when there is none.
    [[nodiscard]] std::size_t last_public() const noexcept {
        for (std::size_t at = count_; at > 0; --at) {
            if (domain::is_public(events_[at - 1].kind)) return at - 1;
        }
        return count_;
    }
    void make_room() noexcept {
        const std::size_t kept_from = last_public();
        CORRO_ASSERT(kept_from != 0 && kept_from != count_, "private events come in short runs");
        hand_over(kept_from);
    }
    /// The first `size` events leave; those behind them move to the front.
    void hand_over(std::size_t size) noexcept {
        consumer_->consume({events_.data(), size});
        std::copy(events_.begin() + static_cast<std::ptrdiff_t>(size),
                  events_.begin() + static_cast<std::ptrdiff_t>(count_), events_.begin());
        count_ -= size;
    }

    event_consumer* consumer_;
    const domain::command* command_ = nullptr;
    std::size_t count_ = 0;
    std::array<domain::event, events_buffered_max> events_{};
};

}  // namespace corro::facility
