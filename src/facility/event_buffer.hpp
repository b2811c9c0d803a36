// SPDX-License-Identifier: Apache-2.0
// The buffer of derived messages: a fixed array that is passed to the consumer when it is full and at the end of each
// command.
//
// The last public event of the running command and the events behind it stay until the command ends, so that the last
// event and the last public one can be marked. A long run of private events (many waiting orders end without a trade)
// does not fit; the command then adds one more public event with the mark.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "facility/event_text.hpp"
#include "facility/limits.hpp"

namespace corro::facility {

/// Receives the facility's events, in total order. It must not call back into the facility.
struct event_consumer {
    /// @param events  From one event to events_buffered_max of them, all of one command; valid during the call.
    virtual void consume(std::span<const domain::event> events) noexcept = 0;

 protected:
    ~event_consumer() = default;
};

class event_buffer {
 public:
    explicit event_buffer(event_consumer& consumer) noexcept : consumer_(&consumer) {}
    event_buffer(const event_buffer&) = delete;
    event_buffer& operator=(const event_buffer&) = delete;

    /// @param command  Must stay as it is until `end`.
    void begin(const domain::command& command) noexcept { command_ = &command; }
    /// Appends an event with its header filled in; the caller writes the payload.
    [[nodiscard]] domain::event& append(domain::event_kind kind, domain::instrument_id instrument, domain::side side,
                                        domain::reject_reason reason = domain::reject_reason::none,
                                        std::uint8_t flags = 0) noexcept {
        run one = open(1);
        domain::event& e = one.append(kind, instrument, side, reason, flags);
        close(one);
        return e;
    }

    /// As run::write.
    template <class Payload>
    [[gnu::always_inline]] void write(std::uint64_t scope, std::uint64_t kind, const Payload& payload) noexcept {
        run one = open(1);
        one.write(scope, kind, payload);
        close(one);
    }

    /// Events that are written one after the other without a check of the buffer in between.
    class run {
     public:
        /// As event_buffer::append.
        [[gnu::always_inline]] domain::event& append(domain::event_kind kind, domain::instrument_id instrument,
                                                     domain::side side,
                                                     domain::reject_reason reason = domain::reject_reason::none,
                                                     std::uint8_t flags = 0) noexcept {
            domain::event& e = *at_++;
            std::memcpy(static_cast<void*>(&e), &header_, sizeof header_);
            e.instrument = instrument;
            e.kind = kind;
            e.side = side;
            e.reason = reason;
            e.flags = flags;
            return e;
        }
        /// Writes a whole event. `scope` and `kind` are the two parts of its header, see event_text.hpp.
        template <class Payload>
        [[gnu::always_inline]] void write(std::uint64_t scope, std::uint64_t kind, const Payload& payload) noexcept {
            put(*at_++, scope, kind, payload);
        }
        /// Writes two events, the first one in front if `in_order`.
        template <class First, class Second>
        [[gnu::always_inline]] void write_pair(bool in_order, std::uint64_t first_scope, std::uint64_t first_kind,
                                               const First& first, std::uint64_t second_scope,
                                               std::uint64_t second_kind, const Second& second) noexcept {
            put(at_[in_order ? 0 : 1], first_scope, first_kind, first);
            put(at_[in_order ? 1 : 0], second_scope, second_kind, second);
            at_ += 2;
        }

     private:
        friend class event_buffer;
        run(domain::event* at, const domain::command& c) noexcept
            : at_(at), header_{c.sequence.value, static_cast<std::uint64_t>(c.time.value)} {}
        template <class Payload>
        [[gnu::always_inline]] void put(domain::event& at, std::uint64_t scope, std::uint64_t kind,
                                        const Payload& payload) const noexcept {
            const payload_words p = words_of(payload);
            const std::array<std::uint64_t, 6> words{scope | kind, p[0], p[1], p[2], p[3], p[4]};
            static_assert(sizeof header_ + sizeof words == sizeof(domain::event));
            std::memcpy(static_cast<void*>(&at), &header_, sizeof header_);
            std::memcpy(reinterpret_cast<std::byte*>(&at) + sizeof header_, words.data(), sizeof words);
        }

        /// The sequence number and the time of the command, which all its events begin with: one register and one
        /// store.
        using two_words [[gnu::vector_size(16)]] = std::uint64_t;
        static_assert(offsetof(domain::event, time) == 8 && offsetof(domain::event, instrument) == 16);

        domain::event* at_;
        two_words header_;
    };
    /// Opens a run of at most `room` events, up to run_max; nothing else may be appended before `close`.
    [[nodiscard, gnu::always_inline]] run open(std::size_t room) noexcept {
        if (end_ > events_.data() + (events_.size() - room)) [[unlikely]]
            make_room();
        return {end_, *command_};
    }
    [[gnu::always_inline]] void close(const run& written) noexcept { end_ = written.at_; }
    /// Most events of one run.
    static constexpr std::size_t run_max = 16;

    /// The instrument of the command's last public event, when more than private_run_max private ones followed it: that
    /// event may have been passed on without its mark, and the caller appends another one.
    [[nodiscard]] std::optional<domain::instrument_id> owed() const noexcept {
        const std::size_t count = size();
        if (count <= private_run_max && !unmarked_) return std::nullopt;
        const std::size_t at = last_public();
        if (at == count) return unmarked_;
        if (count - 1 - at > private_run_max) return events_[at].instrument;
        return std::nullopt;
    }
    /// Does what `owed` and `end` do for a command with few events of which the last one is public. False, and nothing
    /// has changed, for another command.
    [[nodiscard, gnu::always_inline]] bool end_plain() noexcept {
        const std::size_t count = size();
        const bool are_few = count - 1 < private_run_max;  // and there is one
        if (!are_few || unmarked_ || !domain::is_public(end_[-1].kind)) [[unlikely]]
            return false;
        end_[-1].flags |= domain::event_flag::last_of_command;
        end_ = events_.data();
        consumer_->consume({end_, count});
        return true;
    }
    /// Marks the last event and the last public one, and passes all events to the consumer.
    void end() noexcept {
        if (size() == 0) return;
        end_[-1].flags |= domain::event_flag::last_of_command;
        if (const std::size_t at = last_public(); at != size()) {
            events_[at].flags |= domain::event_flag::last_of_command;
        }
        hand_over(size());
        unmarked_.reset();
    }

 private:
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - events_.data()); }
    /// The index of the last public event, or `size()` if there is none.
    [[nodiscard]] std::size_t last_public() const noexcept {
        for (std::size_t at = size(); at > 0; --at) {
            if (domain::is_public(events_[at - 1].kind)) return at - 1;
        }
        return size();
    }
    [[gnu::noinline]] void make_room() noexcept {
        static_assert(private_run_max + 1 + run_max < events_buffered_max, "a kept run leaves room");
        const std::size_t at = last_public();
        if (at == size()) {
            hand_over(at);
        } else if (size() - 1 - at > private_run_max) {
            unmarked_ = events_[at].instrument;
            hand_over(size());
        } else {
            hand_over(at);
        }
    }
    /// Passes the first `count` events to the consumer and moves the others to the front.
    void hand_over(std::size_t count) noexcept {
        consumer_->consume({events_.data(), count});
        end_ = std::copy(events_.data() + count, end_, events_.data());
    }

    std::array<domain::event, events_buffered_max> events_{};
    domain::event* end_ = events_.data();
    event_consumer* consumer_;
    const domain::command* command_ = nullptr;
    std::optional<domain::instrument_id> unmarked_;
};

}  // namespace corro::facility
