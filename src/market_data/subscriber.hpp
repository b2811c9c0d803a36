// SPDX-License-Identifier: Apache-2.0
// One connection to the market data, whatever its stream and its protocol: its phase, and what the venue does to it.
//
// Threads: one context.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "io/net/admission.hpp"
#include "io/task/scope.hpp"

namespace corro::market_data {

/// Only goes forward, in this order; a subscriber is in at most one of the last three.
enum class subscriber_phase : std::uint8_t {
    logging_in,  ///< its login was not accepted yet
    refused,     ///< its login was not accepted and will not be
    active,      ///< it gets messages
    finishing,   ///< ended by the venue, or complete: it gets the rest and the end of the session
    logged_out,  ///< ended at its request: it gets nothing more
    cut,         ///< ended because it failed, was silent or too slow: it gets nothing more
};

class subscriber : public io::admission::guest {
 public:
    [[nodiscard]] subscriber_phase phase() const noexcept { return phase_; }
    [[nodiscard]] bool is_active() const noexcept { return phase_ == subscriber_phase::active; }
    /// Whether its login was accepted.
    [[nodiscard]] bool was_accepted() const noexcept { return phase_ >= subscriber_phase::active; }

    /// Its login is accepted. @pre It is logging in (asserted).
    void accept() noexcept {
        CORRO_ASSERT(phase_ == subscriber_phase::logging_in, "only a subscriber that logs in can be accepted");
        phase_ = subscriber_phase::active;
    }
    /// Its login is not accepted. What is being sent to it may still leave. @pre It is logging in (asserted).
    void refuse() noexcept {
        CORRO_ASSERT(phase_ == subscriber_phase::logging_in, "only a subscriber that logs in can be refused");
        phase_ = subscriber_phase::refused;
    }
    /// The venue ends it, or it has got everything: it gets the rest and the end of the session.
    void end() noexcept { leave_for(subscriber_phase::finishing); }
    /// It has logged out.
    void log_out() noexcept { leave_for(subscriber_phase::logged_out); }
    /// Ends it at once: nothing more is sent.
    void cut() noexcept { leave_for(subscriber_phase::cut); }

    /// The tasks of its current phase, which its end stops; nullptr between two phases.
    /// @pre It is logging in or active, unless nullptr (asserted).
    void run_in(io::task_scope* scope) noexcept {
        CORRO_ASSERT(scope == nullptr || phase_ == subscriber_phase::logging_in || is_active(),
                     "a subscriber that has ended needs no more tasks");
        scope_ = scope;
    }

 protected:
    subscriber() noexcept = default;
    ~subscriber() override = default;

 private:
    // Only before its login.
    void evict() noexcept override { end(); }
    // Each end stops the tasks. Only a cut changes how a subscriber ends that is ending already.
    void leave_for(subscriber_phase next) noexcept {
        if (phase_ == subscriber_phase::logging_in) {
            phase_ = subscriber_phase::refused;
        } else if (is_active() || (next == subscriber_phase::cut && was_accepted())) {
            phase_ = next;
        }
        if (scope_ != nullptr) scope_->request_stop();
    }

    io::task_scope* scope_ = nullptr;
    subscriber_phase phase_ = subscriber_phase::logging_in;
};

}  // namespace corro::market_data
