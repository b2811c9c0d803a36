// SPDX-License-Identifier: Apache-2.0
// Log records: what components report beside the events that they handle, such as logons, evictions and failures.
//
// Units: nanoseconds since the epoch.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "domain/types.hpp"

namespace corro::telemetry {

enum class component : std::uint8_t { venue, gateway, feed, log };

enum class severity : std::uint8_t { info, warning };

/// The kinds of log records, each with the meaning of `number`.
enum class log_record_kind : std::uint8_t {
    started,             ///< number: commands that were recovered
    stopped,             ///< number: commands sequenced
    connection_refused,  ///< at the limit; number: current connections
    logged_on,           ///< number: the session's next answer
    logon_refused,       ///< number: the reason's value on the wire
    left,                ///< number: the reason's value on the wire
    subscribed,          ///< number: the first message asked for
    subscriber_left,     ///< number: current subscribers
    subscriber_cut,      ///< too slow; number: bytes behind
    events_lost,         ///< the log's ring was full; number: events lost
    snapshot_made,       ///< while the venue runs; number: commands in it, of all partitions
    snapshot_failed,     ///< number: commands that it was to include
    journal_failed,      ///< the venue accepts no more requests; number: the last durable command
    journal_stalled,     ///< the disk does not respond; number: seconds so far
    journal_resumed,     ///< it responds again; number: seconds without a response
    format,              ///< the first one of each file; number: the version of the log's format
};

struct log_record {
    domain::time_ns time{};
    std::int64_t number = 0;
    domain::session_id session{};  ///< 0: none
    domain::account_id account{};  ///< 0: none
    log_record_kind kind = log_record_kind::started;
    telemetry::component component = telemetry::component::venue;
    telemetry::severity severity = telemetry::severity::info;
    std::array<char, 56>
        address{};  ///< the peer's address and port, or a journal's folder; ends with a zero; empty for none

    void set_address(std::string_view text) noexcept { text.copy(address.data(), address.size() - 1); }

    constexpr log_record() noexcept = default;
    log_record(telemetry::component who, log_record_kind what, std::int64_t n,
               std::chrono::system_clock::time_point when) noexcept
        : time(std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count()),
          number(n),
          kind(what),
          component(who) {}
};
static_assert(std::is_trivially_copyable_v<log_record>);

[[nodiscard]] std::string_view to_string(component c) noexcept;
[[nodiscard]] std::string_view to_string(severity s) noexcept;
[[nodiscard]] std::string_view to_string(log_record_kind k) noexcept;

}  // namespace corro::telemetry
