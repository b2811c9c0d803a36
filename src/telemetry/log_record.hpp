// Happenings: what components say about themselves, beside the events that they handle: who came, who was cut off, what
// failed.
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

enum class component : std::uint8_t { venue, gateway, feed };

enum class severity : std::uint8_t { info, warning };

/// One word per thing that can happen. `number` means what stands here.
enum class log_record_kind : std::uint8_t {
    started,             ///< number: commands that were recovered
    stopped,             ///< number: commands sequenced
    connection_refused,  ///< too many; number: connections now
    logged_on,           ///< number: the session's next answer
    logon_refused,       ///< number: the reason, as on the wire
    left,                ///< number: why, as on the wire
    subscribed,          ///< number: the first message asked for
    subscriber_left,     ///< number: subscribers now
    subscriber_cut,      ///< too slow; number: bytes behind
    events_lost,         ///< the log could not keep up; number: how many
    snapshot_made,       ///< while the venue runs; number: commands in it, of all segments
    snapshot_failed,     ///< number: commands that it was to hold
    journal_failed,      ///< nothing is accepted any more; number: the last command that is durable
    journal_stalled,     ///< the disk does not answer; number: seconds so far
    journal_resumed,     ///< it does again; number: seconds that it did not
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
        address{};  ///< of the peer, and its port, or a journal's folder; ends with a zero; empty: none

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
