// The receiver of the merged answers of several partitions.
//
// Threads: the merger's.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "domain/event.hpp"

namespace corro::node {

struct answer_outlet {
    /// A private event for the session that it concerns.
    virtual void deliver(const domain::event& event) noexcept = 0;
    /// A command that was not accepted: it has no effect and no other answer.
    virtual void reject_overloaded(const domain::command& command) noexcept = 0;
    /// The first `count` commands are answered completely.
    virtual void answered(std::uint64_t count) noexcept = 0;

 protected:
    ~answer_outlet() = default;
};

}  // namespace corro::node
