// An outlet that also receives the outcome of each command, in order: whether the journal accepted it, and the number
// of the host's events after it. So the submitter of commands to a host on another thread knows which are answered.
//
// Threads: that of the submitter.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "node/event_outlet.hpp"

namespace corro::node {

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
    bool refused = false;  ///< the facility's journal did not accept it
};

/// The fields of the command that order entry needs.
[[nodiscard]] inline domain::command request_of(const executed_command& what) noexcept {
    domain::command c;
    c.session = what.session;
    c.set_request(what.request);
    return c;
}

struct command_outlet : event_outlet {
    /// The next executed command. Its events may come before or after this call.
    virtual void executed(const executed_command& what) = 0;
    /// Whether more events may come.
    [[nodiscard]] virtual bool has_room() const noexcept = 0;
    /// The journal has failed: no more events will come. May be called again.
    /// @return  Whether this was the first call.
    virtual bool give_up() noexcept = 0;

 protected:
    ~command_outlet() = default;
};

}  // namespace corro::node
