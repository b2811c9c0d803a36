// SPDX-License-Identifier: Apache-2.0
// The recorded times of the commands of a replayed recording.
//
// A journal has the time at which the venue sequenced each command. `corro replay --times` writes the recorded time of
// each request into a file, and an export uses these times instead.
//
// Layout: a text file. The first line is "session,request,time"; then one line per request: the session and the
// request's number as in the journal, and nanoseconds since the epoch. Limits: 16 bytes of memory and a table entry per
// request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/flat_map.hpp"
#include "domain/types.hpp"

namespace corro::history {

class recorded_times {
 public:
    /// @throws std::runtime_error with file and line when the file cannot be read or has another form.
    [[nodiscard]] static recorded_times load(const std::filesystem::path& path);

    void add(domain::session_id session, std::uint32_t request, domain::time_ns time);
    [[nodiscard]] std::optional<domain::time_ns> of(domain::session_id session, std::uint32_t request) const noexcept;
    /// The earliest time; 0 when there is none.
    [[nodiscard]] domain::time_ns first() const noexcept { return first_; }

 private:
    base::flat_map<std::int64_t> times_;
    domain::time_ns first_{};
};

}  // namespace corro::history
