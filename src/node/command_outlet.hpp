// An outlet that also hears, in their order, what became of the commands: whether the journal took them, and how many
// events the host had caused when each was done. So whoever passed them on to a host on another thread can tell whose
// command is answered.
//
// Threads: that of whoever passed the commands on.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "node/arrival.hpp"
#include "node/event_outlet.hpp"

namespace corro::node {

/// What became of a command in its facility.
struct executed_command {
    executed_command() noexcept {}
    executed_command(const domain::command& c, std::uint64_t emitted_count, bool was_refused) noexcept
        : arrival(arrival_of(c)),
          sequence(c.sequence.value),
          emitted(emitted_count),
          session(c.session),
          request(c.request),
          copies(copies_of(c)),
          refused(was_refused) {}

    std::uint64_t arrival = 0;
    std::uint64_t sequence = 0;  ///< in its facility
    std::uint64_t emitted = 0;   ///< events that the facility had caused when it was done
    domain::session_id session{};
    std::uint32_t request = 0;
    std::uint8_t copies = 0;
    bool refused = false;  ///< the facility's journal did not take it
};

/// As much of the command as its session's side asks for.
[[nodiscard]] inline domain::command request_of(const executed_command& what) noexcept {
    domain::command c;
    c.session = what.session;
    c.request = what.request;
    return c;
}

struct command_outlet : event_outlet {
    /// The next command. Its events may come before or after this.
    virtual void executed(const executed_command& what) = 0;
    /// Whether more events may come.
    [[nodiscard]] virtual bool has_room() const noexcept = 0;
    /// The journal has failed: events that are not here by now never come. May be said again.
    /// @return  Whether this is news, so that there may be something to tell.
    virtual bool give_up() noexcept = 0;

 protected:
    ~command_outlet() = default;
};

}  // namespace corro::node
