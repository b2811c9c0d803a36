// SPDX-License-Identifier: Apache-2.0
// What sessions ask about the venue beside the market: an instrument's phase, and for operators the venue's state and a
// new snapshot. The gateway checks the right to ask. An admin_service has the answers, in this process or in another.
//
// Layout: requests and replies are plain bytes, because they travel between processes of one build.
// Units:  sequence numbers of the venue. Threads: the gateway's.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "domain/types.hpp"

namespace corro::gateway {

enum class admin_request_kind : std::uint8_t {
    status,
    snapshot,
    phase,  ///< of an instrument, as published; any session may ask
};

[[nodiscard]] constexpr bool is_for_operators(admin_request_kind k) noexcept {
    return k != admin_request_kind::phase;
}

/// Why the venue does not take a request that is sound.
enum class request_refusal : std::uint8_t { none, overloaded, journal_failed, not_an_operator, not_known_here };

/// What the journal takes.
enum class journal_state : std::uint8_t { no_journal, takes_everything, takes_cancels, takes_nothing };

/// What a request for a snapshot has caused.
enum class snapshot_reply : std::uint8_t {
    begun,
    under_way,    ///< one is being made already; no other is begun
    nothing_new,  ///< the newest one holds every durable command
    no_journal,   ///< snapshots are made of the journal, and there is none
};

struct admin_request {
    std::uint64_t question = 0;  ///< the asker's number for it
    std::uint64_t logon = 0;     ///< of the session; later logons do not receive the reply
    domain::session_id session{};
    domain::instrument_id instrument{};  ///< whose phase is wanted; 0: none
    admin_request_kind wish = admin_request_kind::status;
    std::array<std::uint8_t, 7> reserved{};
};
static_assert(std::has_unique_object_representations_v<admin_request>, "it crosses links as bytes");

/// The state of a venue, or of one of its partitions, beside its gateway.
struct venue_report {
    std::uint64_t last_command = 0;      ///< sequenced
    std::uint64_t durable_command = 0;   ///< 0 without a journal
    std::uint64_t snapshot_command = 0;  ///< in the newest snapshot; 0 when there is none
    std::uint64_t feed_sequence = 1;     ///< of the feed's next message
    domain::instrument_id instrument{};  ///< the requested one; 0 when it is not here
    domain::trading_phase phase = domain::trading_phase::continuous;
    journal_state journal = journal_state::no_journal;
    std::uint8_t partition = 0;
    std::uint8_t partitions_count = 1;
};

struct admin_reply {
    admin_request to;
    venue_report venue;
    snapshot_reply outcome = snapshot_reply::begun;  ///< of a request for a snapshot
    std::array<std::uint8_t, 7> reserved{};
};
static_assert(std::has_unique_object_representations_v<admin_reply>, "it crosses links as bytes");

struct admin_service {
    /// Takes a request of a session that may ask it. The replies come by order_entry_gateway::deliver_admin_reply,
    /// before this returns or later, a status or a phase once for each partition.
    /// @return  none, or why there will be no reply.
    [[nodiscard]] virtual request_refusal ask(const admin_request& question) = 0;

 protected:
    ~admin_service() = default;
};

}  // namespace corro::gateway
