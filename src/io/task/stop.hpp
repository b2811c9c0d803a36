// SPDX-License-Identifier: Apache-2.0
// Stopping: a source, tokens that refer to it, and callbacks that it calls.
//
// Nothing is allocated: a source is a member of the object that may stop its children (a scope, a combinator), a
// callback is a member of the operation that can be stopped. A callback never resumes a coroutine; it unlinks its
// operation and makes the waiting task ready.
//
// Threads: one context. A source, its tokens and its callbacks are used by the context's thread only.
// Cost:    no allocation, no atomics; registering and unregistering is linking and unlinking a list node.
#pragma once

#include "base/assert.hpp"

namespace corro::io {

class stop_source;

namespace detail {
struct stop_link {
    stop_link() noexcept : next(nullptr) {}  // NOLINT: `previous` means something only within a list
    stop_link* previous;
    stop_link* next;
};
}  // namespace detail

/// A function to call once when a stop is requested. Registered with at most one source at a time.
class stop_callback : detail::stop_link {
 public:
    /// The function, called on the context's thread; it must not resume a coroutine.
    using function = void (*)(stop_callback&) noexcept;

    explicit stop_callback(function invoke) noexcept : invoke_(invoke) {}
    stop_callback(const stop_callback&) = delete;
    stop_callback& operator=(const stop_callback&) = delete;
    ~stop_callback() { unregister(); }

    [[nodiscard]] bool registered() const noexcept { return next != nullptr; }

    /// Leaves the source, if it was registered with one.
    void unregister() noexcept {
        if (next == nullptr) return;
        previous->next = next;
        next->previous = previous;
        next = nullptr;
    }

 private:
    friend class stop_source;
    function invoke_;
};

/// Requests a stop. Stopping is final and never throws.
class stop_source {
 public:
    stop_source() noexcept {
        callbacks_.previous = &callbacks_;
        callbacks_.next = &callbacks_;
    }
    stop_source(const stop_source&) = delete;
    stop_source& operator=(const stop_source&) = delete;
    ~stop_source() { CORRO_ASSERT(callbacks_.next == &callbacks_, "a stop source must outlive its callbacks"); }

    [[nodiscard]] bool stop_requested() const noexcept { return requested_; }

    /// Whether the stop was observed: a callback ran, or `stop_requested` of a token returned true.
    [[nodiscard]] bool stop_observed() const noexcept { return observed_; }

    /// Calls every registered callback, oldest first. Later calls do nothing.
    void request_stop() noexcept {
        if (requested_) return;
        requested_ = true;
        while (callbacks_.next != &callbacks_) {
            auto* callback = static_cast<stop_callback*>(callbacks_.next);
            callback->unregister();
            observed_ = true;
            callback->invoke_(*callback);
        }
    }

    /// Registers `callback`; if a stop was requested already, calls it at once instead.
    void add(stop_callback& callback) noexcept {
        if (requested_) [[unlikely]] {
            observed_ = true;
            callback.invoke_(callback);
            return;
        }
        callback.previous = callbacks_.previous;
        callback.next = &callbacks_;
        callbacks_.previous->next = &callback;
        callbacks_.previous = &callback;
    }

    void note_observed() noexcept { observed_ = true; }

    /// Resets the source to "no stop requested", for another group of tasks.
    /// @pre No task of the first group is left.
    void reset() noexcept {
        requested_ = false;
        observed_ = false;
    }

 private:
    detail::stop_link callbacks_;
    bool requested_ = false;
    bool observed_ = false;
};

/// Refers to a source, or to none; without one no stop can come.
class stop_token {
 public:
    stop_token() noexcept : source_(nullptr) {}
    explicit stop_token(stop_source& source) noexcept : source_(&source) {}

    [[nodiscard]] bool stop_possible() const noexcept { return source_ != nullptr; }

    /// Whether a stop was requested. A true result counts as an observation.
    [[nodiscard]] bool stop_requested() const noexcept {
        if (source_ == nullptr || !source_->stop_requested()) [[likely]]
            return false;
        source_->note_observed();
        return true;
    }

    /// Registers `callback` with the source, if there is one.
    void add(stop_callback& callback) const noexcept {
        if (source_ != nullptr) source_->add(callback);
    }

 private:
    stop_source* source_;
};

/// Forwards a stop: registered with an outer token, it requests a stop of the inner source.
class stop_relay : stop_callback {
 public:
    explicit stop_relay(stop_source& inner) noexcept : stop_callback(&pass_on), inner_(&inner) {}
    /// Registers with `outer`; stops at once if a stop was requested there.
    void listen(stop_token outer) noexcept { outer.add(*this); }
    using stop_callback::unregister;

 private:
    static void pass_on(stop_callback& self) noexcept { static_cast<stop_relay&>(self).inner_->request_stop(); }
    stop_source* inner_;
};

}  // namespace corro::io
