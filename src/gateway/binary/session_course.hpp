// SPDX-License-Identifier: Apache-2.0
// The course of a connection of Corro Binary: one phase after the other, never back, and why it ends.
//
//   logging_on ----> active ----> ending ----> cut ----> gone
//        |              |            |                     ^
//        +--------------+---> any later phase -------------+
//
// Threads: one. Cost: nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "base/assert.hpp"
#include "gateway/session/end_reason.hpp"

namespace corro::gateway {

enum class session_phase : std::uint8_t {
    logging_on,  ///< the challenge is sent, the hello is awaited
    active,      ///< requests are read and answered
    ending,      ///< no more requests; answers that are owed are still sent, then the logout
    cut,         ///< the client has missed an answer: nothing but the logout is sent
    gone,        ///< nothing can be sent any more
};

class session_course {
 public:
    [[nodiscard]] session_phase phase() const noexcept { return phase_; }
    /// Why it ends; nothing while it does not. A connection that is gone has a reason only if somebody gave one.
    [[nodiscard]] std::optional<end_reason> reason() const noexcept { return reason_; }
    [[nodiscard]] bool is_ending() const noexcept { return reason_.has_value(); }
    /// Whether messages other than the logout may be sent.
    [[nodiscard]] bool may_send() const noexcept { return phase_ < session_phase::cut; }
    [[nodiscard]] bool is_gone() const noexcept { return phase_ == session_phase::gone; }

    /// The client has logged on. @pre logging_on, and not ending (asserted).
    void begin() noexcept {
        CORRO_ASSERT(phase_ == session_phase::logging_on && !reason_);
        phase_ = session_phase::active;
    }
    /// @return  False: it was ending already, and the first reason counts.
    bool end(end_reason why) noexcept {
        if (reason_) return false;
        reason_ = why;
        advance(session_phase::ending);
        return true;
    }
    /// The client misses an answer from here on. Of a day that ends it can never fetch that answer, so that it has to
    /// know. @return  False: it was cut before, or gone.
    bool cut(end_reason why) noexcept {
        const bool is_first = may_send();
        if (reason_ == end_reason::session_day_ended && why == end_reason::slow_consumer) reason_ = why;
        end(why);
        advance(session_phase::cut);
        return is_first;
    }
    /// The peer is not there any more.
    void lose() noexcept { advance(session_phase::gone); }

 private:
    void advance(session_phase to) noexcept {
        if (phase_ < to) phase_ = to;
    }

    session_phase phase_ = session_phase::logging_on;
    std::optional<end_reason> reason_;
};

}  // namespace corro::gateway
