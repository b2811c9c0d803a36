// The receiver of a matching host's events: the gateway and the feed of the same thread, a ring to another thread, or a
// link to other processes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "domain/event.hpp"

namespace corro::node {

/// Whether an event is a progress marker, which is sent to no session and no feed. A host emits one for a note about a
/// session, which causes no event of its own, so that the note counts as answered when it is durable, like any other
/// command.
[[nodiscard]] constexpr bool is_mark(const domain::event& event) noexcept {
    return event.kind == domain::event_kind{};
}

/// Calls `f(events)` for each run of events without marks.
template <class F>
void without_marks(std::span<const domain::event> events, F&& f) {
    while (!events.empty()) {
        const auto mark = std::ranges::find_if(events, is_mark);
        const auto count = static_cast<std::size_t>(mark - events.begin());
        if (count != 0) f(events.first(count));
        events = events.subspan(std::min(count + 1, events.size()));
    }
}

struct event_outlet {
    /// Takes events in the host's total order, including marks.
    ///
    /// @return  The number taken, from the front; the host keeps the others and offers them again.
    virtual std::size_t accept(std::span<const domain::event> events) noexcept = 0;

 protected:
    ~event_outlet() = default;
};

}  // namespace corro::node
