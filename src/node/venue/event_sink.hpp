// SPDX-License-Identifier: Apache-2.0
// The receivers of a matching host's events, and of the outcomes of its commands.
//
// An `event_sink` is on the host's thread: the router of the same thread, or a ring to another one. An `outcome_sink`
// is on the thread of order entry and also receives the outcome of each command, so that the submitter of commands to
// another thread, or to several partitions, knows which are answered.
//
// Threads: that of the caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "domain/command.hpp"
#include "domain/event.hpp"

namespace corro::node {

/// Whether an event is a progress marker, which is sent to no session and no feed. A host emits one for a note about a
/// session, which causes no event of its own, so that the note counts as answered when it is durable, like any other
/// command.
[[nodiscard]] constexpr bool is_progress_marker(const domain::event& event) noexcept {
    return event.kind == domain::event_kind{};
}

/// Calls `f(events)` for each run of events without progress markers.
template <class F>
void for_each_run_of_events(std::span<const domain::event> events, F&& f) {
    while (!events.empty()) {
        const auto mark = std::ranges::find_if(events, is_progress_marker);
        const auto count = static_cast<std::size_t>(mark - events.begin());
        if (count != 0) f(events.first(count));
        events = events.subspan(std::min(count + 1, events.size()));
    }
}

struct event_sink {
    /// Takes events in the host's total order, including progress markers.
    ///
    /// @return  The number taken, from the front; the host keeps the others and offers them again.
    virtual std::size_t accept(std::span<const domain::event> events) noexcept = 0;

 protected:
    ~event_sink() = default;
};

/// The outcome of a command in its facility.
struct executed_command {
    executed_command() noexcept {}
    executed_command(const domain::command& c, std::uint64_t emitted_count, bool was_refused) noexcept
        : arrival(c.arrival().number),
          sequence(c.sequence.value),
          emitted(emitted_count),
          session(c.session),
          request(c.request()),
          copies(c.arrival().copies),
          refused(was_refused) {}

    std::uint64_t arrival = 0;
    std::uint64_t sequence = 0;  ///< in its facility
    std::uint64_t emitted = 0;   ///< the facility's events up to the end of this command
    domain::session_id session{};
    std::uint32_t request = 0;
    std::uint8_t copies = 0;
    bool refused = false;  ///< a journal did not accept it
};

/// The fields of the command that order entry needs.
[[nodiscard]] inline domain::command request_of(const executed_command& what) noexcept {
    domain::command c;
    c.session = what.session;
    c.set_request(what.request);
    return c;
}

struct outcome_sink : event_sink {
    /// The next executed command, in the order in which commands were submitted. Its events may come before or after
    /// this call.
    virtual void executed(const executed_command& what) = 0;
    /// Whether more events may come.
    [[nodiscard]] virtual bool has_room() const noexcept { return true; }
    /// The journal has failed: no more events will come. May be called again.
    /// @return  Whether this was the first call.
    virtual bool end_events() noexcept { return false; }

 protected:
    ~outcome_sink() = default;
};

}  // namespace corro::node
